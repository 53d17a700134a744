// Progress on a terminal: a headline and one line per table, redrawn in place.

import { barCellsMax, progressIntervalMs } from '../../core/limits.ts';
import type { RunStep } from '../../core/model.ts';
import { formatBytes, formatLeft, formatRate, formatSeconds } from '../../core/amounts.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { windowOf, type Io } from '../io.ts';
import { alignRows, clip, textWidth, visibleText } from '../layout.ts';
import { paintFor, type Paint } from '../paint.ts';
import {
  loadSeconds,
  noteOf,
  recordsRead,
  secondsLeft,
  shareRead,
  type Progress,
  type ProgressDisplay,
  type TableProgress,
} from './state.ts';

interface Frame {
  readonly paint: Paint;
  readonly isUnicode: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly nowMs: number;
}

const indent = '  ';
const gapCells = 2;
/** Minimum cells of a shortened table name, so that tables can still be told apart. */
const nameCellsMin = 12;
/** The bar's width changes in these steps, so that it does not flicker when a number grows. */
const barCellsStep = 8;

const stepNames: Readonly<Record<RunStep, string>> = {
  plan: 'planning',
  load: 'loading',
  build: 'building',
  test: 'testing',
  publish: 'publishing',
};

/** Rounds down, so that only 100 % fills the bar. */
const bar = (share: number, cells: number, { paint, isUnicode }: Frame): string => {
  const full = Math.floor(share * cells);
  const [done, todo] = isUnicode ? ['━', '─'] : ['=', '-'];
  return paint(share === 1 ? 'green' : 'cyan', done.repeat(full)) + paint('dim', todo.repeat(cells - full));
};

const phaseText = (table: TableProgress, nowMs: number): string => {
  if (table.phase === 'building') return `building ${table.building}`;
  if (table.phase === 'loaded') return `loaded in ${formatSeconds(loadSeconds(table, nowMs))}`;
  if (table.phase !== 'loading') return table.phase;
  const left = secondsLeft(table, nowMs);
  return left === undefined ? '' : `${formatLeft(left)} left`;
};

interface Room {
  readonly barCells: number;
  readonly hasBytes: boolean;
  readonly nameCells: number;
}

const cellsOf = (table: TableProgress, frame: Frame, { barCells, hasBytes, nameCells }: Room): string[] => {
  const { paint, nowMs } = frame;
  const name = clip(visibleText(table.table), nameCells);
  const phase = paint('dim', phaseText(table, nowMs));
  if (table.kind === 'derived') return [name, '', '', '', '', '', '', phase];
  const share = shareRead(table);
  const { bytes, bytesTotal, records, rejected } = table;
  return [
    name,
    bar(share, barCells, frame),
    `${Math.floor(share * 100)}%`,
    hasBytes ? `${formatBytes(bytes)} of ${formatBytes(bytesTotal)}` : '',
    plural(records, 'record'),
    `${formatRate(recordsRead(table), loadSeconds(table, nowMs))}/s`,
    rejected > 0 ? paint('yellow', `${formatCount(rejected)} rejected`) : '0 rejected',
    phase,
  ];
};

/** Returns a line per table. A narrow window loses first bars, then bytes, then ends of names. */
const tableLines = (tables: readonly TableProgress[], frame: Frame): string[] => {
  const linesWith = (room: Room): string[] =>
    alignRows(
      tables.map((table) => cellsOf(table, frame, room)),
      ['left', 'left', 'right', 'right', 'right', 'right', 'right', 'left'],
    );
  const freeCells = (room: Room): number =>
    frame.columns - indent.length - 1 - Math.max(0, ...linesWith(room).map(textWidth));
  let room: Room = { barCells: 0, hasBytes: true, nameCells: Infinity };
  if (freeCells(room) < 0) {
    room = { ...room, hasBytes: false };
    const longest = Math.max(...tables.map(({ table }) => textWidth(visibleText(table))));
    room = { ...room, nameCells: Math.max(nameCellsMin, longest + Math.min(0, freeCells(room))) };
  }
  const steps = Math.floor(Math.min(freeCells(room) - gapCells, barCellsMax) / barCellsStep);
  return linesWith({ ...room, barCells: Math.max(0, steps) * barCellsStep }).map((line) => indent + line);
};

const headline = (progress: Progress, pipeline: string, { paint, nowMs }: Frame): string => {
  const what = progress.step === undefined ? 'starting' : stepNames[progress.step];
  const run = progress.runId === undefined ? '' : ` run ${progress.runId}`;
  const where = progress.server === '' ? '' : ` on ${progress.server}`;
  const elapsed = formatSeconds((nowMs - progress.startedMs) / 1000);
  return `${paint('bold', visibleText(pipeline))}${run}: ${what}${paint('dim', `${where}, ${elapsed}`)}`;
};

/** Tables with lower numbers are shown if the window has too few rows. */
const urgency: Readonly<Record<TableProgress['phase'], number>> = {
  loading: 0,
  building: 0,
  publishing: 1,
  waiting: 2,
  loaded: 3,
};

const tablesThatFit = (tables: readonly TableProgress[], rows: number): readonly TableProgress[] => {
  if (tables.length <= rows) return tables;
  const chosen = new Set([...tables].sort((a, b) => urgency[a.phase] - urgency[b.phase]).slice(0, rows - 1));
  return tables.filter((table) => chosen.has(table));
};

const barLines = (progress: Progress, pipeline: string, frame: Frame): string[] => {
  const shown = tablesThatFit(progress.tables, frame.rows - 1);
  const hidden = progress.tables.length - shown.length;
  const more = hidden > 0 ? [frame.paint('dim', `${indent}and ${plural(hidden, 'more table')}`)] : [];
  return [headline(progress, pipeline, frame), ...tableLines(shown, frame), ...more];
};

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const eraseLineAndGoDown = '\u001b[2K\u001b[1B';

/**
 * Returns a function that replaces the lines it has drawn before. The text `above` stays on the
 * screen above the new lines.
 *
 * A narrower window wraps the old lines, so the number of rows to erase depends on its current
 * width. Lines that have scrolled away cannot be erased, so the lines never fill the window. Lines
 * are erased one by one: tmux treats "erase below" at the top of the window as "clear", and moves
 * the text into its scrollback (test/integration/terminal.test.ts).
 */
const openBlock = ({ stderr }: Io) => {
  let drawn: readonly string[] = [];
  const erased = (columns: number): string => {
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / columns)), 0);
    const wayUp = `\u001b[${rows}A\r`;
    return rows === 0 ? '' : wayUp + eraseLineAndGoDown.repeat(rows) + wayUp;
  };
  return (lines: readonly string[], above: string): void => {
    // In some terminals, a character in the last column wraps.
    const { columns, rows } = windowOf(stderr);
    const shown = lines.slice(0, Math.max(1, rows - 1)).map((line) => clip(line, Math.max(1, columns - 1)));
    // A single write, so that the terminal never shows a partial frame.
    stderr.write(`${erased(columns)}${above}${shown.map((line) => `${line}\n`).join('')}`);
    drawn = shown;
  };
};

const hideCursorOf = ({ stderr }: Io): (() => void) => {
  const restore = (): void => void stderr.write(showCursor);
  stderr.write(hideCursor);
  process.once('exit', restore);
  return () => {
    process.removeListener('exit', restore);
    restore();
  };
};

const hasUnicode = (env: NodeJS.ProcessEnv): boolean =>
  env['TERM'] !== 'linux' &&
  (process.platform === 'win32' || /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''));

/** Draws bars until the run ends. After a success they are erased, because the summary follows. */
export const openBars = (
  progress: Progress,
  io: Io,
  { pipeline, verbose }: { readonly pipeline: string; readonly verbose: boolean },
): ProgressDisplay => {
  const drawBlock = openBlock(io);
  const look = { paint: paintFor(io.stderr, io.env), isUnicode: hasUnicode(io.env) };
  const restoreCursor = hideCursorOf(io);
  let drawnMs = Number.NEGATIVE_INFINITY;
  let isOpen = true;

  const draw = (above = ''): void => {
    drawnMs = io.clock();
    const { columns, rows } = windowOf(io.stderr);
    const frame = { ...look, columns, rows: Math.max(2, rows - 1), nowMs: drawnMs };
    drawBlock(progress.isFinished ? [] : barLines(progress, pipeline, frame), above);
  };
  const note = (text: string): void => draw(`${visibleText(text)}\n`);
  // Draws between events, to update the elapsed time and to adapt to a resized window.
  const timer = setInterval(draw, progressIntervalMs);
  timer.unref();
  return {
    event(event) {
      const text = noteOf(event, verbose);
      if (text !== undefined) note(text);
      else if (io.clock() - drawnMs >= progressIntervalMs) draw();
    },
    note,
    close() {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(timer);
      draw();
      restoreCursor();
    },
  };
};
