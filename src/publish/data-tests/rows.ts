// rows: the number of rows is within bounds, and close to the number before the run.

import { formatCount, plural } from '../../core/wording.ts';
import { defineTest, type TableKind, type WholeOptions } from './contract.ts';

/** Bounds for the number of rows in a table. */
export interface RowCount {
  /** Fewest rows that pass. Default: 0. */
  readonly min?: number;
  /** Most rows that pass. Default: no limit. */
  readonly max?: number;
  /** Share by which the number of rows may rise or fall in one run. */
  readonly change?: `${number}%`;
}

const isCount = (value: unknown): boolean =>
  value === undefined || (Number.isInteger(value) && Number(value) >= 0);

export const rows = {
  per: 'table',
  define: (count: RowCount, options: WholeOptions = {}) =>
    defineTest<never>('rows', [], { ...count }, options),
  read: ({ of }, { add }) => {
    const { min, max, change, ...others } = of;
    const [unknown] = Object.keys(others);
    const percent =
      typeof change === 'string' && /^\d+(\.\d+)?%$/.test(change) ? Number(change.slice(0, -1)) : null;
    if (unknown !== undefined) add(`accepts min, max and change, not \`${unknown}\``);
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
    // A change from zero rows has no percentage.
    if (percent === null || before === null || before === 0) return undefined;
    const isOver = Math.abs(count - before) * 100 > Number(percent) * before;
    const change = (Math.abs(count - before) * 100) / before;
    const word = count > before ? 'more' : 'fewer';
    return isOver
      ? `${has}${Number(change.toPrecision(3))}% ${word} than the ${formatCount(before)} before`
      : undefined;
  },
} satisfies TableKind;
