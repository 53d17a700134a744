// Text of data test results: a line per test, and below it the failing rows.

import type { DataTestResult, FailingRow } from '../../core/data-test.ts';
import { plural } from '../../core/wording.ts';
import { alignRows, visibleText } from '../layout.ts';
import type { Paint, Style } from '../paint.ts';

const styles: Readonly<Record<DataTestResult['outcome'], Style>> = {
  passed: 'green',
  warned: 'yellow',
  failed: 'red',
};

const rowText = ({ file, line, values }: FailingRow): string => {
  const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`} `;
  const shown = Object.entries(values).map(([name, value]) => `${name}=${value ?? 'null'}`);
  return visibleText(place + shown.join(', '));
};

export const testLines = (tests: readonly DataTestResult[], paint: Paint): string[] => {
  const heads = alignRows(
    tests.map(({ outcome, table, test, problem }) => [
      paint(styles[outcome], outcome),
      visibleText(table),
      visibleText(test),
      visibleText(problem ?? ''),
    ]),
    ['left', 'left', 'left', 'left'],
  );
  return tests.flatMap(({ rows, failures }, at) => [
    heads[at]!,
    ...rows.map((one) => paint('dim', `  ${rowText(one)}`)),
    ...(rows.length > 0 && failures > rows.length
      ? [paint('dim', `  … and ${plural(failures - rows.length, 'more row')}`)]
      : []),
  ]);
};
