// Storage parameters of tables and indexes. Of a partitioned table, only the partitions have them.

import type { AttributesSpec } from '../../core/shape.ts';
import { askPrepared, runQuery, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { quoteText, type Query } from '../../db/sql.ts';
import { builtName, productionName, type TableNames } from '../../db/names.ts';
import type { Attribute } from './attribute.ts';

/** Returns a clause for `create table`, because the first row must already obey the fillfactor. */
export const storageClause = (attributes: AttributesSpec | undefined): string => {
  const parameters = Object.entries(attributes?.storage ?? {}).map(
    ([name, value]) => `${name} = ${quoteText(value)}`,
  );
  return parameters.length === 0 ? '' : ` with (${parameters.join(', ')})`;
};

export const createAs = (names: TableNames): string =>
  `create table ${builtName(names)}${storageClause(names.attributes)} as`;

/** Sends all at once, and returns the number of rows that `create` wrote. */
export const createWith = async (
  client: Client,
  create: Query,
  whenCreated: readonly Query[],
): Promise<number> => {
  const [{ rowCount }] = await askTogether(client, () => [
    runQuery(client, create),
    ...whenCreated.map((query) => runQuery(client, query)),
  ]);
  return rowCount ?? 0;
};

export type IndexStorage = (name: string, using?: string) => string;

/** Storage clauses of indexes. For primary keys, see primaryKeysOf(). */
export const indexStorage = async (client: Client, names: TableNames): Promise<IndexStorage> => {
  const { rows } = await askPrepared<{ name: string; using: string; clause: string }>(
    client,
    `select x.relname as name, m.amname as using, format(' with (%s)', (
          select string_agg(format('%I = %L', option_name, option_value), ', ') from pg_options_to_table(x.reloptions))) as clause
      from pg_index i join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam
      where i.indrelid = to_regclass($1) and x.reloptions is not null`,
    [productionName(names)],
  );
  return (wanted, method = 'btree') =>
    rows.find(({ name, using }) => name === wanted && using === method)?.clause ?? '';
};

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
