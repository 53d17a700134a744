// Shows what was measured: as tables for people.

import type { PartReport, SideReport } from './compare.ts';
import type { Cell } from './parts/matrix.ts';
import type { TableRatios } from './parts/table.ts';
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
  'ns a field',
  'server CPU',
  'MB',
  'log MB',
];

const sideRow = (
  { name, records, median, rounds }: SideReport,
  like: number,
  fields: number | undefined,
): readonly string[] => {
  const { seconds, clientSeconds, serverSeconds, megabytes, logMegabytes } = median;
  const all = rounds.map((round) => round.seconds);
  return [
    name,
    seconds.toFixed(2),
    Math.min(...all).toFixed(2),
    Math.max(...all).toFixed(2),
    records === undefined ? '–' : (seconds / (records / 1e6)).toFixed(2),
    clientSeconds.toFixed(2),
    records === undefined || fields === undefined
      ? '–'
      : ((clientSeconds * 1e9) / records / fields).toFixed(1),
    serverSeconds.toFixed(2),
    megabytes.toFixed(0),
    logMegabytes.toFixed(0),
    (seconds / like).toFixed(2),
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

/** The sides of a part, each against one of them. */
export const partText = ({ title, fields, sides }: PartReport): string => {
  const secondsOf = (wanted = sides[0]!.name): number =>
    sides.find(({ name }) => name === wanted)!.median.seconds;
  return [
    '',
    title,
    table([
      [...sideColumns, sides.some(({ like }) => like) ? '÷ its script' : '÷ first'],
      ...sides.map((side) => sideRow(side, secondsOf(side.like), fields)),
    ]),
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

/** The worst table first. */
export const ratiosText = (ratios: readonly TableRatios[]): string => {
  const rows = ratios
    .toSorted((a, b) => b.direct - a.direct)
    .map(({ table: name, load, staged, direct, cpu, floors }) => [
      name,
      ...[load, staged, direct, cpu, floors?.load, floors?.staged, floors?.direct].map(
        (ratio) => ratio?.toFixed(2) ?? '–',
      ),
    ]);
  const titles = ['', 'load', 'staged', 'direct', 'CPU', 'floor: load', 'floor: staged', 'floor: direct'];
  return `
sluice ÷ psql, staged against staged and direct against direct
${table([titles, ...rows])}`;
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
