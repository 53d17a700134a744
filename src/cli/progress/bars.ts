// Progress on a terminal: one live line a table, redrawn in place, clipped to the window, cleared at the end.

import { progressIntervalMs } from '../../core/limits.ts';
import { windowOf, type Io } from '../io.ts';
import { clip, textWidth, visibleText } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { barLines } from './bar-lines.ts';
import type { ProgressDisplay } from './contract.ts';
import { noticeOf } from '../../report/notice.ts';
import { applyEvent, emptyProgress } from './state.ts';

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

/** Draws on stderr, at most every `progressIntervalMs`. What was drawn is erased when the run has finished, since
 *  its summary says it all; after a failure the last state stays. */
export const openBars = (io: Io, pipeline: string, verbose: boolean): ProgressDisplay => {
  const progress = emptyProgress(io.clock());
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
      const nowMs = io.clock();
      applyEvent(progress, event, nowMs);
      finished ||= event.type === 'finished';
      const notice = noticeOf(event);
      if (notice !== undefined) note(notice);
      else if (event.type === 'building' && verbose) note(`${event.table}: building ${event.what}`);
      else if (nowMs - drawnMs >= progressIntervalMs) draw();
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
