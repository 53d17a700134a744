// unique: no two rows have the same values in the columns.

import { quoteName, quoteNames } from '../../db/sql.ts';
import { haveSame } from '../table/table-state.ts';
import { equalityOf } from './accepted.ts';
import { columnOf, defineTest, row, type SetKind, type TestOptions } from './contract.ts';

export const unique = {
  per: 'set',
  define: <const Name extends string>(columns: Name | readonly Name[], options: TestOptions = {}) =>
    defineTest('unique', [columns].flat() as readonly Name[], {}, options),
  read: ({ columns }, { add }) => {
    if (columns.length === 0) add('needs names of columns');
    return {};
  },
  over: () => 'brought',
  /** First finds values that occur twice. This reads only these columns, and usually finds none. */
  failing: ({ columns: names }, { rows, brought, current, columns, keys }) => {
    const equals = names.map((name) => equalityOf(columnOf(columns, name)));
    if (keys.some((key) => key.every((name) => names.includes(name)))) return undefined;
    const isKnown = names.map((name) => `${row}.${quoteName(name)} is not null`).join(' and ');
    const comes = `exists (select from ${brought} b where ${haveSame({ columns: names, equals }, 'b', row)})`;
    const isNew = brought === rows ? '' : `and ${comes}`;
    return `with twice as materialized (
        select ${quoteNames(names)} from ${rows} ${row} where ${isKnown} and ${current} ${isNew} group by ${quoteNames(names)} having count(*) > 1
      )
      select ${row}.* from ${brought} ${row} join twice t on ${haveSame({ columns: names, equals }, 't', row)} where ${current}`;
  },
  problem: ({ columns }) => `another row has the same ${columns.join(', ')}`,
} satisfies SetKind;
