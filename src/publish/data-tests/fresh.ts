// fresh: the newest value of a date or timestamp column is not older than a given age.

import { quoteName } from '../../db/sql.ts';
import { columnOf, defineTest, row, TestMisfit, type TableKind, type WholeOptions } from './contract.ts';

type Unit = 'minute' | 'minutes' | 'hour' | 'hours' | 'day' | 'days' | 'week' | 'weeks';

const age = /^(?:[1-9]\d{0,5}) (?:minute|hour|day|week)s?$/;

export const fresh = {
  per: 'table',
  define: <const Name extends string>(
    column: Name,
    within: `${number} ${Unit}`,
    options: WholeOptions = {},
  ) => defineTest('fresh', [column], { within }, options),
  read: ({ columns: [name], of: { within } }, { add, column }) => {
    if (column(name!)?.isTime === false) add(`needs a date or timestamp, and \`${name}\` is not one`);
    if (typeof within === 'string' && age.test(within)) return { within };
    add("needs an age such as '12 hours', '2 days' or '1 week'");
    return undefined;
  },
  /**
   * Compares with a limit of the column's type: a date of two days ago passes '2 days' until
   * midnight.
   */
  value: ({ columns: [name], of: { within } }, columns) => {
    const { type } = columnOf(columns, name!);
    if (!/^(?:date|timestamp with(?:out)? time zone)$/.test(type))
      throw new TestMisfit(`column ${name} is ${type}, which is not a time`);
    const newest = `max(${row}.${quoteName(name!)})`;
    const since = `(now() - interval '${String(within)}')::${type}`;
    return `case when ${newest} >= ${since} then null else coalesce(${newest}::text, 'none') end`;
  },
  problem: ({ columns, of: { within } }, value) =>
    value === null
      ? undefined
      : `the newest ${columns[0]} is ${value}, and must not be older than ${String(within)}`,
} satisfies TableKind;
