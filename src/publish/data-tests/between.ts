// between: every value of the column lies between two bounds, inclusive.

import { quoteName, quoteText } from '../../db/sql.ts';
import { columnOf, defineTest, row, TestMisfit, type RowKind, type TestOptions } from './contract.ts';

type Bound = string | number | bigint | null;

export const between = {
  per: 'row',
  define: <const Name extends string>(column: Name, min: Bound, max: Bound, options: TestOptions = {}) =>
    defineTest('between', [column], { min, max }, options),
  read: ({ columns: [name], of }, asked) => {
    if (asked.column(name!)?.isOrdered === false) {
      asked.add(`needs numbers or times, and \`${name}\` is something else`);
      return undefined;
    }
    const bounds = (['min', 'max'] as const).map((which) =>
      (of[which] ?? null) === null ? null : asked.text(which, name!, of[which]),
    );
    const [min, max] = bounds;
    if (min === null && max === null) asked.add('needs a bound');
    return bounds.includes(undefined) ? undefined : { min, max };
  },
  fails: ({ columns: [name], of: { min, max } }, columns) => {
    const column = columnOf(columns, name!);
    const { type, less, isText } = column;
    if (less === null || isText) throw new TestMisfit(`column ${name} is ${type}, which has no such order`);
    const value = `${row}.${quoteName(column.name)}`;
    const bound = (text: unknown): string => `${quoteText(text as string)}::${type}`;
    return [
      ...(min === null ? [] : [`${value} ${less} ${bound(min)}`]),
      ...(max === null ? [] : [`${bound(max)} ${less} ${value}`]),
    ].join(' or ');
  },
  problem: ({ columns, of }) => {
    const { min, max } = of as { readonly min: string | null; readonly max: string | null };
    if (min === null) return `${columns[0]} is more than ${max}`;
    if (max === null) return `${columns[0]} is less than ${min}`;
    return `${columns[0]} is not between ${min} and ${max}`;
  },
} satisfies RowKind;
