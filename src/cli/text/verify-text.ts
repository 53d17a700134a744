// Text of `etl verify`: a line per table, the differences, and what was not compared.

import type { VerifiedTable, VerifyDifference, VerifyReport } from '../../tools/verify/report.ts';
import { firstOf, formatCount, plural } from '../../core/wording.ts';
import { lossText } from '../../tools/loss.ts';
import { alignRows, visibleText } from '../layout.ts';
import type { Paint, Style } from '../paint.ts';

const styles: Readonly<Record<VerifiedTable['outcome'], Style>> = {
  same: 'green',
  different: 'red',
  'not compared': 'yellow',
};

const shownMax = 20;

const placeOf = (table: string, file: string | null, column: string | null): string =>
  [`table ${table}`, ...(file === null ? [] : [file]), ...(column === null ? [] : [`column ${column}`])].join(
    ', ',
  );

const differenceText = (table: string, { file, column, what, expected, found }: VerifyDifference): string =>
  visibleText(`${placeOf(table, file, column)}: ${what} expected ${expected}, found ${found}`);

export const differenceLines = ({ tables }: VerifyReport): readonly string[] =>
  tables.flatMap(({ table, differences }) =>
    firstOf(
      differences.map((one) => differenceText(table, one)),
      shownMax,
    ),
  );

const total = (
  files: VerifiedTable['files'],
  count: (file: VerifiedTable['files'][number]) => number,
): number => files.reduce((sum, file) => sum + count(file), 0);

const tableRow = ({ table, outcome, files, columns, by }: VerifiedTable, paint: Paint): readonly string[] => [
  paint(styles[outcome], outcome),
  visibleText(table),
  files.length === 0 ? '' : plural(files.length, 'file'),
  files.length === 0
    ? ''
    : plural(
        total(files, ({ records }) => records),
        'record',
      ),
  files.length === 0 ? '' : `${formatCount(total(files, ({ rejected }) => rejected))} rejected`,
  files.length === 0 ? '' : `${formatCount(total(files, ({ filtered }) => filtered))} filtered`,
  by === null ? '' : plural(columns, 'column'),
];

const notComparedLines = ({ table, notCompared }: VerifiedTable): readonly string[] => {
  const places = new Map<string, string[]>();
  for (const { file, column, reason } of notCompared) {
    const known = places.get(reason) ?? [];
    places.set(reason, known);
    known.push(file ?? (column === null ? 'its rows' : `column ${column}`));
  }
  return [...places].map(([reason, names]) =>
    visibleText(`not compared: table ${table}, ${firstOf(names, shownMax).join(', ')}: ${reason}`),
  );
};

const lossLines = ({ table, losses }: VerifiedTable, paint: Paint): readonly string[] =>
  losses.map(
    (loss) => `${paint('yellow', '!')} ${visibleText(`${table}, ${loss.column}: ${lossText(loss)}`)}`,
  );

const totalText = ({ outcome, tables, seconds }: VerifyReport): string => {
  if (outcome === 'not compared') return 'nothing was compared, so this says nothing about production';
  const records = tables.reduce((sum, { files }) => sum + total(files, (file) => file.records), 0);
  return `${plural(records, 'record')} counted in ${seconds.toFixed(1)} s`;
};

export const verifyLines = (report: VerifyReport, paint: Paint): readonly string[] => {
  const { tables } = report;
  const heads = alignRows(
    tables.map((table) => tableRow(table, paint)),
    ['left', 'left', 'right', 'right', 'right', 'right', 'right'],
  );
  const notes = tables.flatMap(notComparedLines);
  const losses = tables.flatMap((table) => lossLines(table, paint));
  return [
    ...heads,
    ...(notes.length === 0 ? [] : ['', ...notes.map((line) => paint('dim', line))]),
    ...(losses.length === 0 ? [] : ['', ...losses]),
    '',
    totalText(report),
  ];
};
