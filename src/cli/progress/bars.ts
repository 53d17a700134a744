// Progress on a terminal: one live line a table, redrawn in place, clipped to the window, cleared at the end.

import { progressIntervalMs } from '../../core/limits.ts';
import { windowOf, type Io } from '../io.ts';
import { clip, textWidth, visibleText } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { barLines } from './bar-lines.ts';
import { noteOf, type Progress, type ProgressDisplay } from './state.ts';

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const eraseLineAndGoDown = '\u001b[2K\u001b[1B';

/**
 * A block of lines at the bottom of the terminal that can be drawn again.
 *
 * A window made narrower wraps what was drawn, so the way back up is reckoned from the width it has now. The block
 * never fills the window: lines that have scrolled away could not be reached. It is erased line by line: tmux takes
 * "erase below" at the top of its window for "clear", and moves what was there into its scrollback
 * (test/integration/terminal.test.ts).
 */
const openBlock = ({ stderr }: Io) => {
  let drawn: readonly string[] = [];
  const erased = (columns: number): string => {
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / columns)), 0);
    const wayUp = `\u001b[${rows}A\r`;
    return rows === 0 ? '' : wayUp + eraseLineAndGoDown.repeat(rows) + wayUp;
  };
  return {
    /** Replaces the block; `above` stays on the screen before it. */
    draw(lines: readonly string[], above = ''): void {
      // A character in the last column wraps in some terminals.
      const { columns, rows } = windowOf(stderr);
      const shown = lines.slice(0, Math.max(1, rows - 1)).map((line) => clip(line, Math.max(1, columns - 1)));
      // One write a frame, so that nobody sees half of it.
      stderr.write(`${erased(columns)}${above}${shown.map((line) => `${line}\n`).join('')}`);
      drawn = shown;
    },
  };
};

/** A process that is ended at once must not leave the cursor hidden. */
const keepCursor = (io: Io): (() => void) => {
  const restore = (): void => void io.stderr.write(showCursor);
  io.stderr.write(hideCursor);
  process.once('exit', restore);
  return () => {
    process.removeListener('exit', restore);
    restore();
  };
};

/** Unicode blocks need a terminal that can show them. */
const hasUnicode = (env: NodeJS.ProcessEnv): boolean =>
  env['TERM'] !== 'linux' &&
  (process.platform === 'win32' || /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''));

/**
 * Draws on stderr, at most every `progressIntervalMs`. When the run has finished, the bars are erased: its summary says
 * it all. After a failure they stay.
 */
export const openBars = (
  progress: Progress,
  io: Io,
  { pipeline, verbose }: { readonly pipeline: string; readonly verbose: boolean },
): ProgressDisplay => {
  const block = openBlock(io);
  const look = { paint: paintFor(io.stderr, io.env), unicode: hasUnicode(io.env), pipeline };
  const restoreCursor = keepCursor(io);
  let drawnMs = Number.NEGATIVE_INFINITY;
  let open = true;
  let finished = false;

  const draw = (above = ''): void => {
    drawnMs = io.clock();
    const { columns, rows } = windowOf(io.stderr);
    const lines = finished
      ? []
      : barLines(progress, drawnMs, { ...look, columns, rows: Math.max(2, rows - 1) });
    block.draw(lines, above);
  };
  const note = (text: string): void => draw(`${visibleText(text)}\n`);
  // Times go on between events, and a new window size shows at once.
  const timer = setInterval(draw, progressIntervalMs);
  timer.unref();
  return {
    event(event) {
      finished ||= event.type === 'finished';
      const text = noteOf(event, verbose);
      if (text !== undefined) note(text);
      else if (io.clock() - drawnMs >= progressIntervalMs) draw();
    },
    note,
    close() {
      if (!open) return;
      open = false;
      clearInterval(timer);
      draw();
      restoreCursor();
    },
  };
};
