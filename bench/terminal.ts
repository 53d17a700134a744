// Records a run in a real terminal as a moving picture: npm run site:terminal. Each line appears and goes when it did, and it plays once.
//
// tmux draws the terminal, and is asked again and again what it shows. Viewers who want no motion see the end.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const project = fileURLToPath(new URL('..', import.meta.url));
const command = 'npx etl run pipelines/noaa.ts';
const columns = 112;
const rows = 22;
const [cellWidth, cellHeight, margin] = [8.2, 19, 18];
/** Of a terminal's eight colours, on a dark background; the last is that of plain text. */
const colours = ['#8b949e', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#e6edf3'];

interface Frame {
  readonly atMs: number;
  readonly lines: readonly string[];
}

/** A checkout of its own, which has loaded nothing yet. */
const makeCheckout = (): string => {
  const directory = join(mkdtempSync(join(tmpdir(), 'terminal-')), 'sluice');
  mkdirSync(directory);
  for (const name of ['package.json', 'pipelines', 'data'])
    cpSync(join(project, name), join(directory, name), { recursive: true });
  for (const name of ['node_modules', 'dist', 'src']) symlinkSync(join(project, name), join(directory, name));
  return directory;
};

/** From the key that starts the command to the shell's next prompt. */
const record = async (directory: string): Promise<readonly Frame[]> => {
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
  };
  const tmux = async (...args: string[]): Promise<string> => {
    const all = ['-u', '-S', join(directory, 'tmux'), '-f', '/dev/null', ...args];
    return (await run('tmux', all, { env, cwd: directory })).stdout;
  };
  const look = async (): Promise<readonly string[]> =>
    (await tmux('capture-pane', '-e', '-p')).trimEnd().split('\n');
  const isPrompt = (line: string | undefined): boolean =>
    line?.replaceAll(/\u001b\[[\d;]*m/g, '').trim() === '$';
  const size = ['-x', String(columns), '-y', String(rows)];
  await tmux('new-session', '-d', ...size, `env PS1='$ ' bash --norc --noprofile`);
  try {
    while (!isPrompt((await look()).at(-1)));
    await tmux('send-keys', '-l', command);
    while (!(await look()).join('').includes(command));
    const frames: Frame[] = [{ atMs: 0, lines: await look() }];
    await tmux('send-keys', 'Enter');
    const start = performance.now();
    for (let isOver = false; !isOver;) {
      const atMs = Math.round(performance.now() - start);
      const lines = await look();
      isOver = lines.length > 1 && isPrompt(lines.at(-1));
      if (lines.join('\n') !== frames.at(-1)!.lines.join('\n')) frames.push({ atMs, lines });
    }
    return frames;
  } finally {
    await tmux('kill-server');
    await run('npx', ['etl', 'db', 'stop'], { cwd: directory });
  }
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A line's text in its colours; of the other attributes a picture needs bold and faint. */
const drawLine = (line: string): string => {
  let style = '';
  return line
    .split(/(\u001b\[[\d;]*m)/)
    .map((part) => {
      const codes = /^\u001b\[([\d;]*)m$/.exec(part)?.[1];
      if (codes === undefined) {
        return part === '' || style === '' ? escaped(part) : `<tspan${style}>${escaped(part)}</tspan>`;
      }
      for (const code of codes.split(';').map(Number)) {
        if (code === 0 || code === 39) style = '';
        else if (code === 1) style += ' font-weight="bold"';
        else if (code === 2 || code === 90) style += ` fill="${colours[0]}"`;
        else if (code >= 30 && code <= 37) style += ` fill="${colours[code - 30]}"`;
      }
      return '';
    })
    .join('');
};

/** What a row shows, from one time to another. */
const spansOf = (frames: readonly Frame[], row: number) => {
  const spans: { line: string; fromMs: number; toMs?: number }[] = [];
  for (const { atMs, lines } of frames) {
    const line = lines[row] ?? '';
    if (line === (spans.at(-1)?.line ?? '')) continue;
    if (spans.length > 0) spans.at(-1)!.toMs = atMs;
    spans.push({ line, fromMs: atMs });
  }
  return spans.filter(({ line }) => line !== '');
};

const draw = (frames: readonly Frame[]): string => {
  const totalMs = frames.at(-1)!.atMs + 1;
  const height = Math.max(...frames.map(({ lines }) => lines.length)) * cellHeight + 2 * margin;
  const width = columns * cellWidth + 2 * margin;
  const times = new Map<string, string>();
  const texts = Array.from({ length: rows }, (_, row) =>
    spansOf(frames, row).map(({ line, fromMs, toMs }) => {
      const percent = (ms: number): string => `${((ms / totalMs) * 100).toFixed(2)}%`;
      const name = `t${fromMs}-${toMs ?? ''}`;
      const end = toMs === undefined ? '' : `${percent(toMs)}{opacity:0}`;
      times.set(name, `@keyframes ${name}{0%{opacity:0}${percent(fromMs)}{opacity:1}${end}}`);
      const style = `animation-name:${name}${toMs === undefined ? '' : ';opacity:0'}`;
      const y = margin + (row + 0.75) * cellHeight;
      return `<text x="${margin}" y="${y}" style="${style}">${drawLine(line)}</text>\n`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${command}</title>
<style>
text{font:13.4px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${colours[7]};white-space:pre;animation:${totalMs}ms step-end both}
@media (prefers-reduced-motion:reduce){text{animation:none}}
${[...times.values()].join('\n')}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#161b22" stroke="#444c56"/>
${texts.flat().join('')}</svg>
`;
};

const directory = makeCheckout();
try {
  const frames = await record(directory);
  writeFileSync(join(project, 'docs/images/terminal.svg'), draw(frames));
  console.log(`${frames.length} frames in ${frames.at(-1)!.atMs} ms`);
} finally {
  rmSync(dirname(directory), { recursive: true, force: true });
}
