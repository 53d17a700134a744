// Shows what was measured: as tables for people.

import type { PartReport, SideReport } from './compare.ts';
import type { Cell } from './parts/matrix.ts';
import type { ShapeRatios } from './parts/shapes.ts';
import type { Compared } from './recorded.ts';
import type { TargetReport } from './targets.ts';

/** Left column flush left, the others flush right. */
const table = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

const sideColumns = [
  '',
  'seconds',
  'min',
  'max',
  's/million',
  'client CPU',
  'server CPU',
  'MB',
  'log MB',
  '÷ first',
];

const sideRow = ({ name, records, median, rounds }: SideReport, first: number): readonly string[] => {
  const { seconds, clientSeconds, serverSeconds, megabytes, logMegabytes } = median;
  const all = rounds.map((round) => round.seconds);
  return [
    name,
    seconds.toFixed(2),
    Math.min(...all).toFixed(2),
    Math.max(...all).toFixed(2),
    records === undefined ? '–' : (seconds / (records / 1e6)).toFixed(2),
    clientSeconds.toFixed(2),
    serverSeconds.toFixed(2),
    megabytes.toFixed(0),
    logMegabytes.toFixed(0),
    (seconds / first).toFixed(2),
  ];
};

/** Where the time of a run of `etl` went. */
const stepsText = ({ name, median: { steps } }: SideReport): readonly string[] =>
  steps === undefined
    ? []
    : [
        `  ${name}: ${Object.entries(steps)
          .map(([step, seconds]) => `${step} ${seconds.toFixed(2)}`)
          .join(' · ')}`,
      ];

/** The sides of a part, each against the first of them. */
export const partText = ({ title, sides }: PartReport): string => {
  const first = sides[0]!.median.seconds;
  return [
    '',
    title,
    table([sideColumns, ...sides.map((side) => sideRow(side, first))]),
    ...sides.flatMap(stepsText),
  ].join('\n');
};

export const targetsText = (targets: readonly TargetReport[]): string => {
  const rows = targets.map(({ name, measured, limit, outcome }) => [
    name,
    measured?.toFixed(2) ?? '–',
    String(limit),
    outcome,
  ]);
  return `\nTargets\n${table([['', 'measured', 'at most', ''], ...rows])}`;
};

/** The worst shape first. */
export const shapesText = (ratios: readonly ShapeRatios[]): string => {
  const rows = ratios
    .toSorted((a, b) => b.load - a.load)
    .map(({ shape, load, whole, unstaged, cpu, floors }) => [
      shape,
      ...[load, whole, unstaged, cpu, floors?.load, floors?.whole].map((ratio) => ratio?.toFixed(2) ?? '–'),
    ]);
  const titles = ['', 'load', 'whole job', 'without staging', 'CPU', 'floor: load', 'floor: whole job'];
  return `\nsluice ÷ the best psql script\n${table([titles, ...rows])}`;
};

/** Nanoseconds a field, and what is left to JavaScript. */
export const matrixText = (cells: readonly Cell[]): string => {
  const rows = cells.map((cell) => [
    cell.spelling,
    ...[cell.sluiceNs, cell.csvParseNs, cell.csvNs, cell.textNs, cell.binaryNs].map((ns) => ns.toFixed(0)),
    `${(100 * cell.hostCallsPerField).toFixed(1)} %`,
    `${(100 * cell.routineCallsPerRecord).toFixed(1)} %`,
    cell.copiedPerByte.toFixed(1),
  ]);
  const titles = [
    'ns a field',
    'sluice',
    'csv-parse',
    'COPY csv',
    'as text',
    'binary',
    'asked',
    'stopped',
    'copied',
  ];
  return `\n${table([titles, ...rows])}`;
};

export const comparedText = (figures: number, worse: readonly Compared[]): string => {
  const text = (value: number | undefined): string => value?.toFixed(3) ?? '–';
  const rows = worse.map(({ name, value, recorded, limit }) => [
    name,
    text(value),
    text(recorded),
    text(limit),
  ]);
  const details = rows.length > 0 ? `\n${table([['', 'measured', 'recorded', 'at most'], ...rows])}` : '';
  return `\n${figures} figures, ${worse.length} worse than recorded, or not recorded (--record)${details}`;
};
