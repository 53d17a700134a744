// The live display in a real terminal, tmux: what is left on the screen and in the scrollback, whatever the window does.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { typeScriptArgs } from '../helpers/run-typescript.ts';

const run = promisify(execFile);
const files = useFiles();
const program = fileURLToPath(new URL('../helpers/draw-bars.ts', import.meta.url));

/** A server of its own: nobody else's sessions are touched. */
const tmux = async (...args: string[]): Promise<string> =>
  (await run('tmux', ['-S', `${files.directory}/tmux`, '-f', '/dev/null', ...args])).stdout;

beforeAll(() => tmux('new-session', '-d', '-s', 'keeper', 'sleep 600'));
afterAll(() => tmux('kill-server'));

/** Draws in a window of its own; gives all that is left there, scrollback first. */
const draw = async (
  { columns = 100, rows }: { columns?: number; rows: number },
  args: readonly (number | string)[],
  meanwhile: (window: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> => {
  const command = [process.execPath, ...typeScriptArgs(program, args.map(String))];
  const session = randomUUID();
  const size = ['-x', String(columns), '-y', String(rows)];
  const shell = `TERM=screen NO_COLOR=1 CI= '${command.join("' '")}'; sleep 600`;
  await tmux('new-session', '-d', '-s', session, ...size, shell);
  const capture = async (): Promise<string[]> =>
    (await tmux('capture-pane', '-p', '-S', '-', '-t', session)).split('\n').filter((line) => line !== '');
  const untilShown = async (text: string): Promise<void> => {
    while (!(await capture()).some((line) => line.includes(text))) await sleep(100);
  };
  try {
    await untilShown('shop');
    await meanwhile(session);
    await untilShown('all drawn');
    return await capture();
  } finally {
    await tmux('kill-session', '-t', session);
  }
};

const headlines = (lines: readonly string[]): number =>
  lines.filter((line) => line.startsWith('shop run 1')).length;

describe.concurrent('in tmux', () => {
  // Most of their time they wait for the next frame.
  it.for([
    { name: 'at the top of a window', rows: 24, args: [3, 20], left: 5 },
    { name: 'of more tables than the window has rows', rows: 6, args: [30, 20], left: 6 },
    { name: 'with notes above', rows: 8, args: [3, 20, 'a note'], left: 7 },
    { name: 'with notes that wrap', rows: 8, args: [2, 20, `${'wide '.repeat(38)}end`], left: 8 },
  ])('one frame is left of twenty $name', async ({ rows, args, left }, { expect }) => {
    const lines = await draw({ rows }, args);
    expect(headlines(lines)).toBe(1);
    expect(lines, lines.join('\n')).toHaveLength(left);
    expect(lines.at(-1)).toBe('all drawn');
  });

  it('a window that is made smaller and larger keeps at most a frame of each size', async ({ expect }) => {
    const sizes = [
      [60, 12],
      [40, 6],
      [120, 24],
    ] as const;
    const lines = await draw({ rows: 12 }, [4, 40], async (session) => {
      for (const [columns, rows] of sizes) {
        await sleep(700);
        await tmux('resize-window', '-t', session, '-x', String(columns), '-y', String(rows));
      }
    });
    expect(headlines(lines)).toBeLessThanOrEqual(1 + sizes.length);
    expect(lines.at(-1)).toBe('all drawn');
  });
});
