// The lines of the live display as a pure function of state, time and window.

import { barCellsMax } from '../../core/limits.ts';
import type { RunStep } from '../../core/model.ts';
import { formatBytes, formatLeft, formatRate, formatSeconds } from '../../core/amounts.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { alignRows, clip, textWidth, visibleText, type Alignment } from '../layout.ts';
import type { Paint } from '../paint.ts';
import {
  loadSeconds,
  recordsRead,
  secondsLeft,
  shareRead,
  type Progress,
  type TableProgress,
} from './state.ts';

export interface Look {
  readonly paint: Paint;
  /** The terminal shows Unicode blocks. */
  readonly unicode: boolean;
  readonly pipeline: string;
  readonly columns: number;
  readonly rows: number;
}

const indent = '  ';
// Blanks beside the bar.
const gap = 2;
// Enough of a name to tell tables apart.
const nameCellsMin = 12;
const barCellsStep = 8;

const stepNames: Readonly<Record<RunStep, string>> = {
  plan: 'planning',
  load: 'loading',
  build: 'building',
  test: 'testing',
  publish: 'publishing',
};

/** A bar of `cells` cells; full cells are whole shares, so 100 % alone fills it. */
const bar = (share: number, cells: number, { paint, unicode }: Look): string => {
  const full = Math.floor(share * cells);
  const [done, todo] = unicode ? ['━', '─'] : ['=', '-'];
  return paint(share === 1 ? 'green' : 'cyan', done.repeat(full)) + paint('dim', todo.repeat(cells - full));
};

const phaseText = (table: TableProgress, nowMs: number): string => {
  if (table.phase === 'building') return `building ${table.building}`;
  if (table.phase === 'loaded') return `loaded in ${formatSeconds(loadSeconds(table, nowMs))}`;
  if (table.phase === 'publishing') return 'publishing';
  if (table.phase === 'waiting') return 'waiting';
  const left = secondsLeft(table, nowMs);
  return left === undefined ? '' : `${formatLeft(left)} left`;
};

/** What a narrow window gives up, in this order: cells of the bar, the bytes, the ends of names. */
interface Room {
  readonly barCells: number;
  readonly hasBytes: boolean;
  readonly nameCells: number;
}

const cellsOf = (
  table: TableProgress,
  nowMs: number,
  look: Look,
  { barCells, hasBytes, nameCells }: Room,
): string[] => {
  const { paint } = look;
  const name = clip(visibleText(table.table), nameCells);
  const phase = paint('dim', phaseText(table, nowMs));
  if (table.kind === 'derived') return [name, '', '', '', '', '', '', phase];
  const share = shareRead(table);
  const { bytes, bytesTotal, records, rejected } = table;
  return [
    name,
    bar(share, barCells, look),
    `${Math.floor(share * 100)}%`,
    !hasBytes ? '' : `${formatBytes(bytes)} of ${formatBytes(bytesTotal)}`,
    plural(records, 'record'),
    `${formatRate(recordsRead(table), loadSeconds(table, nowMs))}/s`,
    rejected > 0 ? paint('yellow', `${formatCount(rejected)} rejected`) : '0 rejected',
    phase,
  ];
};

const alignments: readonly Alignment[] = [
  'left',
  'left',
  'right',
  'right',
  'right',
  'right',
  'right',
  'left',
];

/** The bar takes what room the text leaves, in steps, so that it does not twitch when a number grows. */
const alignTables = (tables: readonly TableProgress[], nowMs: number, look: Look): string[] => {
  const linesWith = (room: Room): string[] =>
    alignRows(
      tables.map((table) => cellsOf(table, nowMs, look, room)),
      alignments,
    );
  const left = (room: Room): number =>
    look.columns - indent.length - 1 - Math.max(0, ...linesWith(room).map(textWidth));
  const whole: Room = { barCells: 0, hasBytes: true, nameCells: Infinity };
  const hasBytes = left(whole) >= 0;
  const missing = hasBytes ? 0 : Math.max(0, -left({ ...whole, hasBytes }));
  const longest = Math.max(0, ...tables.map(({ table }) => textWidth(visibleText(table))));
  const nameCells = missing === 0 ? Infinity : Math.max(nameCellsMin, longest - missing);
  const room: Room = { barCells: 0, hasBytes, nameCells };
  const barRoom = Math.min(left(room) - gap, barCellsMax);
  const barCells = Math.max(0, Math.floor(barRoom / barCellsStep) * barCellsStep);
  return linesWith({ ...room, barCells }).map((line) => indent + line);
};

const headline = (progress: Progress, nowMs: number, { paint, pipeline }: Look): string => {
  const what = progress.step === undefined ? 'starting' : stepNames[progress.step];
  const run = progress.runId === undefined ? '' : ` run ${progress.runId}`;
  const where = progress.server === '' ? '' : ` on ${progress.server}`;
  const elapsed = formatSeconds((nowMs - progress.startedMs) / 1000);
  return `${paint('bold', visibleText(pipeline))}${run}: ${what}${paint('dim', `${where}, ${elapsed}`)}`;
};

// With more tables than rows, those that move are worth looking at.
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

/** A headline and one line a table, no more than `rows` lines; not yet clipped to the width. */
export const barLines = (progress: Progress, nowMs: number, look: Look): string[] => {
  const shown = tablesThatFit(progress.tables, look.rows - 1);
  const hidden = progress.tables.length - shown.length;
  const more = hidden > 0 ? [look.paint('dim', `${indent}and ${plural(hidden, 'more table')}`)] : [];
  return [headline(progress, nowMs, look), ...alignTables(shown, nowMs, look), ...more];
};
