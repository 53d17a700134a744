// The tablespace of a table and its indexes. New tables are created there.

import { askPrepared, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { quoteName } from '../../db/sql.ts';
import { productionName, type TableNames } from '../../db/names.ts';
import type { Attribute } from './attribute.ts';

/** SQL for a tablespace's name. The oid 0 means the default of the database. */
const nameOf = (oid: string): string =>
  `(select spcname::text from pg_tablespace where oid = coalesce(nullif(${oid}, 0),
      (select dattablespace from pg_database where datname = current_database())))`;

const key = 'tablespace';
const indexKey = `${key} of index `;

export const tablespace: Attribute = {
  ofWhole: true,
  ofPart: true,
  blocksReaders: true,

  select: (oid) => `
    select '${key}', ${nameOf('reltablespace')} from pg_class where oid = ${oid}
    union all
    select '${indexKey}' || x.oid::regclass, ${nameOf('x.reltablespace')}
      from pg_index i join pg_class x on x.oid = i.indexrelid where i.indrelid = ${oid}`,

  settings: ({ attributes }, found) => {
    const name = attributes?.tablespace;
    if (name === undefined) return [];
    const indexes = Object.keys(found).filter((one) => one.startsWith(indexKey));
    return [
      { key, value: name, sql: (table) => `alter table ${table} set tablespace ${quoteName(name)}` },
      // An index that is no longer declared has already been dropped.
      ...indexes.map((one) => ({
        key: one,
        value: name,
        sql: () => `alter index if exists ${one.slice(indexKey.length)} set tablespace ${quoteName(name)}`,
      })),
    ];
  },
};

/**
 * Makes new tables go to the declared tablespace, or else to production's, because a moved table
 * must not return to the default. `like`: the table whose tablespace a new partition gets. Returns
 * true if that changed the session's default.
 */
const enterTablespace = async (client: Client, names: TableNames, like: TableNames): Promise<boolean> => {
  const { rows } = await askPrepared(
    client,
    `select set_config('default_tablespace', place, false) from (
        select coalesce($1::text, (select case c.reltablespace when 0 then '' else ${nameOf('c.reltablespace')} end
            from unnest(array[$2, $3]::text[]) with ordinality as n (name, rank) join pg_class c on c.oid = to_regclass(n.name)
            order by n.rank limit 1)) as name
      ) wanted
      cross join lateral (select case when name = ${nameOf('0::oid')} then '' else name end as place) p
      where place <> current_setting('default_tablespace')`,
    [names.attributes?.tablespace ?? null, productionName(names), productionName(like)],
  );
  return rows.length > 0;
};

/** Calls `work`, which creates tables, in the tablespace of the table. */
export const inTablespaceOf = async <T>(
  client: Client,
  names: TableNames,
  work: () => Promise<T>,
  like = names,
): Promise<T> => {
  const [isOther, made] = await askTogether(client, () => [enterTablespace(client, names, like), work()]);
  if (isOther) await client.query('reset default_tablespace');
  return made;
};
