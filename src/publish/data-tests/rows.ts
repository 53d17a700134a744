// rows: the number of rows is within bounds, and not far from the number before.

import { formatCount, plural } from '../../core/wording.ts';
import { defineTest, type TableKind, type WholeOptions } from './contract.ts';

/** How many rows a table may have. */
export interface RowCount {
  readonly min?: number;
  readonly max?: number;
  /** Share of the rows before the run by which their number may rise or fall. */
  readonly change?: `${number}%`;
}

const isCount = (value: unknown): boolean =>
  value === undefined || (Number.isInteger(value) && Number(value) >= 0);

export const rows = {
  per: 'table',
  /** So many rows: `expect.rows({ min: 1000, change: '20%' })`. */
  define: (count: RowCount, options: WholeOptions = {}) =>
    defineTest<never>('rows', [], { ...count }, options),
  read: ({ of }, { add }) => {
    const { min, max, change, ...others } = of;
    const [unknown] = Object.keys(others);
    const percent =
      typeof change === 'string' && /^\d+(\.\d+)?%$/.test(change) ? Number(change.slice(0, -1)) : null;
    if (unknown !== undefined) add(`knows min, max and change, not \`${unknown}\``);
    else if (min === undefined && max === undefined && change === undefined) add('needs min, max or change');
    else if (!isCount(min) || !isCount(max)) add('needs numbers of rows for min and max');
    else if (change !== undefined && percent === null) add("needs a share such as '20%' for change");
    else if (Number(min ?? 0) > Number(max ?? Infinity)) add('has a min above its max');
    else return { min: min ?? null, max: max ?? null, percent };
    return undefined;
  },
  about: () => '',
  value: () => 'count(*)::text',
  problem: ({ of: { min, max, percent } }, value, before) => {
    const count = Number(value);
    const has = `${plural(count, 'row')}, `;
    if (min !== null && count < Number(min)) return `${has}fewer than ${formatCount(Number(min))}`;
    if (max !== null && count > Number(max)) return `${has}more than ${formatCount(Number(max))}`;
    // Of nothing any number is infinitely more.
    if (percent === null || before === null || before === 0) return undefined;
    const isOver = Math.abs(count - before) * 100 > Number(percent) * before;
    const change = (Math.abs(count - before) * 100) / before;
    const word = count > before ? 'more' : 'fewer';
    return isOver
      ? `${has}${Number(change.toPrecision(3))}% ${word} than the ${formatCount(before)} before`
      : undefined;
  },
} satisfies TableKind;
