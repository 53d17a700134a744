// Storage parameters of a table. A table that is divided has none: they are those of its partitions.

import type { AttributesSpec } from '../../shape.ts';
import { quoteText } from '../../db/sql.ts';
import { builtName, type TableNames } from '../names.ts';
import type { Attribute } from './contract.ts';

/** SQL after the name of a table that is created: rows that are written at once have to obey the fillfactor. */
export const storageClause = (attributes: AttributesSpec | undefined): string => {
  const parameters = Object.entries(attributes?.storage ?? {}).map(
    ([name, value]) => `${name} = ${quoteText(value)}`,
  );
  return parameters.length === 0 ? '' : ` with (${parameters.join(', ')})`;
};

export const createAs = (names: TableNames): string =>
  `create table ${builtName(names)}${storageClause(names.attributes)} as`;

export const storage: Attribute = {
  ofWhole: false,
  ofPart: true,
  blocksReaders: false,

  select: (oid) => `
    select 'storage ' || o.prefix || split_part(o.option, '=', 1), substr(o.option, strpos(o.option, '=') + 1)
      from (
        select '' as prefix, unnest(reloptions) as option from pg_class where oid = ${oid}
        union all
        select 'toast.', unnest(t.reloptions) from pg_class c join pg_class t on t.oid = c.reltoastrelid where c.oid = ${oid}
      ) o`,

  settings: ({ attributes }) =>
    Object.entries(attributes?.storage ?? {}).map(([name, value]) => ({
      key: `storage ${name}`,
      value,
      sql: (table) => `alter table ${table} set (${name} = ${quoteText(value)})`,
    })),
};
