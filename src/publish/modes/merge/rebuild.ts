// The strategy 'rebuild': if much of a table changes, builds a merged copy and swaps it in.
//
// The new table is built from one snapshot of production while other sessions read and write. Then
// writers are locked out. If anybody wrote after the snapshot, the new table is discarded and the
// rows are merged in place. So readers wait as for a swap, and writers for the time of a scan.

import { setSortMemory } from '../../../db/session/session-settings.ts';
import { withPath, withTransaction, type Client } from '../../../db/client.ts';
import { isRefusal } from '../../../db/connect/server-error.ts';
import { quoteNames } from '../../../db/sql.ts';
import { EtlError } from '../../../core/errors/errors.ts';
import { formatCount, plural } from '../../../core/wording.ts';
import { completeStatistics } from '../../aside/complete-statistics.ts';
import type { Strategy } from '../contract.ts';
import type { BuiltOver, Differences, Found, ReadState, Rebuilt } from '../../table/built-over.ts';
import {
  atColumn,
  columnNames,
  countDifferences,
  diffOf,
  findDifferences,
  kindColumn,
  kinds,
} from './differences.ts';
import { keyChanges } from '../../alter/keys.ts';
import { merge } from './merge.ts';
import { type TableNames, besideName, builtName, productionName } from '../../../db/names.ts';
import { isOnePiece } from '../../table/own-rows.ts';
import { ProductionChanged, type ProductionTable } from '../../table/production.ts';
import { placelessClause } from '../../table/table-state.ts';
import { publishRefusal } from '../../refusals.ts';
import { swap } from '../replace/swap.ts';

/**
 * Microseconds to change a row in place, and to write a row of a new table; `index`: for each index
 * besides the primary key. Measured with a million rows of 110 bytes, UUID keys, PostgreSQL 18: a
 * changed row took 6 to 20, plus 4 per index; a rebuilt row 1.9 to 2.3, plus 0.3 per index.
 */
const changedRow = { itself: 7, index: 4 };
const anyRow = { itself: 2, index: 0.3 };

/**
 * Microseconds that a rebuild must save: after a swap, every session plans its statements again.
 */
const leastSaved = 200_000;

const changedRows = ({ insert, update, remove }: Differences): number => insert + update + remove;

const isCheaper = (counts: Differences, { indexes, published }: ProductionTable): boolean => {
  const further = indexes.length - 1;
  const rows = (published?.rows ?? 0) + counts.insert;
  const changing = changedRows(counts) * (changedRow.itself + changedRow.index * further);
  const rebuilding = rows * (anyRow.itself + anyRow.index * further);
  return changing - rebuilding > leastSaved;
};

const mayRebuild = (over: BuiltOver): boolean => {
  const { table, production } = over;
  if (production === undefined || table.mode.merge?.by === 'upsert' || !isOnePiece(production)) return false;
  // We may lack the right to create a table for another owner, so only a declared `by: 'rebuild'`
  // tries.
  if (table.mode.merge?.by !== 'rebuild' && production.owner !== null) return false;
  const names = new Set(columnNames(over));
  const isSwapped = swap.takes(table, production) && production.published?.isMade === true;
  if (!isSwapped || names.size !== production.columns.length) return false;
  return production.columns.every(({ name }) => names.has(name)) && !isAltered(over);
};

/** Returns true if `create table … like` copies everything that the table has. */
const isPlain = async (client: Client, production: ProductionTable): Promise<boolean> => {
  const { rows } = await client.query(
    `select has_schema_privilege(c.relnamespace, 'create') and c.reltablespace = 0
        and not exists (select from pg_attribute where attrelid = c.oid and (attgenerated <> '' or attidentity <> ''))
        and not exists (select from pg_constraint where contype = 'f' and c.oid in (conrelid, confrelid))
        and not exists (select from pg_index i join pg_class x on x.oid = i.indexrelid
          where i.indrelid = c.oid and x.reltablespace <> 0) as "isPlain"
      from pg_class c where c.oid = $1`,
    [production.oid],
  );
  return rows[0]?.isPlain === true;
};

/** Reads a state that changes whenever a row is written: it covers ctid and xmin of every row. */
const readState = async (client: Client, table: TableNames): Promise<ReadState> => {
  const { rows } = await client.query(
    `select count(*)::float8 as rows, coalesce(bit_xor(hashtidextended(ctid, xmin::text::bigint)), 0)::text as versions
      from only ${productionName(table)}`,
  );
  return rows[0];
};

/** Creates an empty copy of the table, with storage parameters such as the fillfactor. */
const createLike = async (client: Client, names: TableNames, oid: number): Promise<void> => {
  const { rows } = await client.query(
    `select 'with (' || array_to_string(reloptions, ', ') || ')' as options from pg_class where oid = $1`,
    [oid],
  );
  await client.query(
    `create table ${builtName(names)} (like ${productionName(names)} including all excluding indexes excluding statistics)
      ${rows[0].options ?? ''}`,
  );
};

/** Creates production's indexes on the new table. Returns statements that rename them. */
const makeIndexes = async (client: Client, names: TableNames, oid: number): Promise<readonly string[]> => {
  const { rows } = await client.query<{ make: string; targets: readonly string[]; rename: string }>(
    `select case when k.oid is null
          then replace(replace(pg_get_indexdef(x.oid), format(' INDEX %I ON ', x.relname), format(' INDEX %I ON ', t.name)),
            format(' ON %I.%I USING ', $2::text, $3::text), ' ON ' || $4 || ' USING ')
          else format('alter table %s add constraint %I %s', $4, t.name, ${placelessClause}) end as make,
        array(select format('alter index %I.%I alter column %s set statistics %s', $5::text, t.name, attnum, attstattarget)
          from pg_attribute where attrelid = x.oid and attstattarget >= 0) as targets,
        format('alter index %I.%I rename to %I', $5::text, t.name, x.relname) as rename
      from pg_index i join pg_class x on x.oid = i.indexrelid
        left join pg_constraint k on k.conindid = i.indexrelid and k.conrelid = i.indrelid and k.contype in ('p', 'u')
        cross join lateral (select 'etl_new_' || x.oid as name) t
      where i.indrelid = $1 and i.indisvalid order by i.indisprimary desc, x.relname`,
    [oid, names.schema, names.table, builtName(names), names.buildSchema],
  );
  // Called with the search path for which the server wrote these texts. With another one, `a = b`
  // could call a different operator.
  for (const { make, targets } of rows) await client.query([make, ...targets].join(';\n'));
  return rows.map(({ rename }) => rename);
};

const build = async (client: Client, over: BuiltOver, counts: Differences): Promise<Rebuilt> => {
  const { table, production } = over;
  const names = { ...table, built: besideName(table.table, 'rebuilt') };
  const { oid } = production!;
  const [target, diff, list] = [builtName(names), diffOf(over), quoteNames(columnNames(over))];
  const read = await readState(client, table);
  await createLike(client, names, oid);
  let rows = 0;
  const fill = async (select: string): Promise<void> => {
    const { rowCount } = await client.query(`insert into ${target} (${list}) select ${list} from ${select}`);
    rows += rowCount ?? 0;
  };
  const { insert, update, remove } = kinds;
  await withPath(client, table.path, async () => {
    await fill(`only ${productionName(table)} o
      where not exists (select from ${diff} where ${kindColumn} in ('${update}', '${remove}') and ${atColumn} = o.ctid)`);
    await fill(`${diff} where ${kindColumn} in ('${insert}', '${update}')`);
  });
  const wanted = read.rows + counts.insert - counts.remove;
  if (rows !== wanted) {
    const problem = `the rebuilt table should have ${plural(wanted, 'row')}, and has ${formatCount(rows)}`;
    throw new EtlError('ETL_INCOMPLETE', { table: table.table, problem });
  }
  const renames = await makeIndexes(client, names, oid);
  await completeStatistics(client, names);
  const made = await client.query('select $1::regclass::oid as oid', [target]);
  return { oid: made.rows[0].oid, built: names.built, renames, rows, read };
};

/** Returns undefined if the server refused something. Merging the rows in place then reports it. */
const tryBuild = async (
  client: Client,
  over: BuiltOver,
  counts: Differences,
): Promise<Rebuilt | undefined> => {
  await client.query('savepoint rebuild');
  try {
    return await build(client, over, counts);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query('rollback to savepoint rebuild');
    return undefined;
  }
};

const isAltered = (over: BuiltOver): boolean =>
  keyChanges(over).texts.length > 0 || over.production!.indexes.some(({ isImmediate }) => !isImmediate);

const lockMs = 2_000;

/**
 * Finds the differences before any lock is taken, and rebuilds the table if that is cheaper.
 * Undefined: the table must be altered first, or a ctid does not identify a row.
 */
export const lookAndRebuild = async (client: Client, over: BuiltOver): Promise<Found | undefined> => {
  const { table, production } = over;
  if (production === undefined || table.extent === 'whole' || !isOnePiece(production)) return undefined;
  if (isAltered(over)) return undefined;
  const { by } = table.mode.merge!;
  await setSortMemory(client, 1);
  return withTransaction(client, async () => {
    await client.query(
      `set transaction isolation level repeatable read; set local lock_timeout = ${lockMs}; set local row_security = off`,
    );
    await findDifferences(client, over);
    const counts = await countDifferences(client, over);
    if (changedRows(counts) === 0 || !mayRebuild(over)) return { counts };
    const isWanted = by === 'rebuild' || isCheaper(counts, production);
    if (!isWanted || !(await isPlain(client, production))) return { counts };
    const rebuilt = await tryBuild(client, over, counts);
    return rebuilt === undefined ? { counts } : { counts, rebuilt };
  }).catch((cause: unknown) => {
    throw publishRefusal(table.table, cause);
  });
};

export const rebuild: Strategy = {
  ...merge,
  name: 'rebuild',
  writes: false,
  holdsWriters: true,
  summary: 'Merged by rebuilding the table',

  takes: (_, __, found) => found?.rebuilt !== undefined,

  mayTake: mayRebuild,

  notice: ({ table, found }) =>
    `${table.schema}.${table.table}: ${plural(changedRows(found!.counts), 'row')} of ${formatCount(found!.rebuilt!.read.rows)} change, so a new table was built and is swapped in`,

  apply: async (client, plans) => {
    for (const { table, found } of plans) {
      const { read, renames } = found!.rebuilt!;
      const { rows, versions } = await readState(client, table);
      if (rows !== read.rows || versions !== read.versions) throw new ProductionChanged();
      await client.query(
        [`drop table ${builtName({ ...table, built: besideName(table.table, 'part') })}`, ...renames].join(
          ';\n',
        ),
      );
    }
    return swap.apply(client, plans);
  },

  verify: async (_, plan) => plan.found!.rebuilt!.rows,

  oidInProduction: swap.oidInProduction,
};
