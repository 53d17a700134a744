// Finds changes by hand on production tables, and detects new ones since a table was built.
//
// Indexes, collations and statistics targets are copied during the build, so a later change by hand
// would be lost with the old table. They are read twice: before the build, and under the lock.
// Proved by test/modes/by-hand.test.ts.

import { askPrepared, type Client } from '../../db/client.ts';
import { firstOf } from '../../core/wording.ts';
import { productionName, type TableNames } from '../../db/names.ts';

/** A property made by hand. `text` has everything that is copied, for comparison. */
interface ByHand {
  readonly name: string;
  readonly text: string;
}

export type MadeByHand = ReadonlyMap<string, readonly ByHand[]>;

interface Copy extends TableNames {
  readonly byHand?: MadeByHand | undefined;
  /** The partitions that are replaced; missing: all. */
  readonly touched?: { readonly names: readonly string[] } | undefined;
}

/**
 * SQL: true if a person created the index `i` (relation `x`) on table `t` in namespace `n`.
 * `published_table` names the indexes of runs; an index of a partition comes from its table.
 */
export const isIndexByHand = `
  i.indisvalid and not i.indisprimary
  and not exists (select from pg_constraint c where c.conindid = x.oid and c.contype in ('u', 'x'))
  and not exists (select from pg_inherits h where h.inhrelid = x.oid)
  and not exists (select from etl.published_table p
    where p.schema_name = n.nspname and p.table_name = t.relname and x.relname = any (p.indexes))`;

const selectByHand = `
  with wanted as materialized (
    select w.place, to_regclass(w.name) as oid from unnest($1::text[]) with ordinality as w (name, place)
  ),
  target as materialized (
    select w.place, c.oid, c.relname, c.relnamespace from wanted w join pg_class c on c.oid = w.oid
    union all
    select w.place, c.oid, c.relname, c.relnamespace
      from wanted w join pg_inherits h on h.inhparent = w.oid join pg_class c on c.oid = h.inhrelid
  ),
  found (oid, name, text) as (
    select t.oid, 'index ' || x.relname, row(pg_get_indexdef(x.oid), x.reltablespace,
        array(select attstattarget from pg_attribute where attrelid = x.oid order by attnum))::text
      from target t join pg_namespace n on n.oid = t.relnamespace
        join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid
      where ${isIndexByHand}
    union all
    -- Indexes of the declaration: only their storage parameters and tablespace are set by hand.
    select t.oid, 'index ' || x.relname, row(x.reloptions, x.reltablespace)::text
      from target t join pg_namespace n on n.oid = t.relnamespace
        join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid
      where not i.indisprimary and (x.reloptions is not null or x.reltablespace <> 0) and not (${isIndexByHand})
    union all
    select t.oid, 'primary key ' || k.conname, row(pg_get_constraintdef(k.oid), x.reloptions, x.reltablespace)::text
      from target t join pg_constraint k on k.conrelid = t.oid and k.contype = 'p' join pg_class x on x.oid = k.conindid
    union all
    select t.oid, 'column ' || a.attname, row(a.attcollation, a.attstattarget, a.attoptions)::text
      from target t join pg_attribute a on a.attrelid = t.oid join pg_type y on y.oid = a.atttypid
      where a.attnum > 0 and not a.attisdropped
        and (a.attcollation <> y.typcollation or a.attstattarget >= 0 or a.attoptions is not null)
  ),
  made as (
    select oid, json_agg(json_build_object('name', name, 'text', text) order by name) as list from found group by oid
  )
  select t.place::int, t.relname as name, coalesce(m.list, '[]') as made from target t left join made m on m.oid = t.oid`;

export const findByHand = async (
  client: Client,
  tables: readonly TableNames[],
): Promise<readonly MadeByHand[]> => {
  const { rows } = await askPrepared<{ place: number; name: string; made: readonly ByHand[] }>(
    client,
    selectByHand,
    [tables.map(productionName)],
  );
  const found = tables.map(() => new Map<string, readonly ByHand[]>());
  for (const { place, name, made } of rows) found[place - 1]!.set(name, made);
  return found;
};

const differing = (before: readonly ByHand[], now: readonly ByHand[]): readonly string[] => {
  const has = (list: readonly ByHand[], one: ByHand): boolean =>
    list.some(({ name, text }) => name === one.name && text === one.text);
  const both = [...now.filter((one) => !has(before, one)), ...before.filter((one) => !has(now, one))];
  return [...new Set(both.map(({ name }) => name))].toSorted();
};

const changesOf = ({ byHand, table, touched }: Copy, now: MadeByHand): readonly string[] =>
  [...now].flatMap(([name, made]) => {
    const leaves = touched === undefined || name === table || touched.names.includes(name);
    return leaves ? differing(byHand?.get(name) ?? [], made).map((one) => `${one} of ${name}`) : [];
  });

const shownMax = 5;

/** Thrown while publishing: a change by hand came after the build, so the table is built again. */
export class ChangedByHand extends Error {
  readonly what: string;

  constructor(changes: readonly string[]) {
    const what = firstOf(changes, shownMax).join(', ');
    super(`changed by hand: ${what}`);
    this.what = what;
  }
}

/**
 * Fails if somebody changed a table by hand. `found` was read under a lock that prevents such
 * changes. Errors: ChangedByHand.
 */
export const refuseChangedByHand = (tables: readonly Copy[], found: readonly MadeByHand[]): void => {
  const changes = tables.flatMap((table, place) => changesOf(table, found[place]!));
  if (changes.length > 0) throw new ChangedByHand(changes);
};
