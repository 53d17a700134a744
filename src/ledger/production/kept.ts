// Earlier versions of tables, and rollbacks to them.

import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { keyOf } from './published-files.ts';
import type { KeptVersion } from './upkeep.ts';

export interface KeptTable extends KeptVersion {
  readonly id: number;
  readonly name: string;
  readonly indexes: readonly string[] | null;
}

/**
 * Returns kept tables, the most recently replaced first. Compares oids, because another table may
 * have the name now.
 */
export const keptTables = (client: Client, pipeline: string): Promise<readonly KeptTable[]> =>
  rowsOf(client, {
    text: `select k.id::float8 as id, k.table_name as "table", k.schema_name as schema, k.run_id::float8 as run,
          k.replaced_by::float8 as "replacedBy", k.kept_name as name, format('%I.%I', n.nspname, k.kept_name) as location,
          k.rows::float8 as rows, pg_total_relation_size(c.oid)::float8 as bytes, k.kept_at as "keptAt", k.indexes
        from etl.kept_table k join pg_class c on c.oid = k.table_oid and c.relname = k.kept_name and c.relkind = 'r'
          join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'etl_kept'
        where k.pipeline = $1 order by k.id desc`,
    values: [pipeline],
  });

export interface TableOfRun {
  readonly table: string;
  readonly strategy: string;
  readonly run: number;
  /** Set if a rollback (`by`) restored the rows of an earlier run (`to`). */
  readonly back: { readonly to: number; readonly by: number } | null;
}

export const tablesInProduction = (
  client: Client,
  pipeline: string,
  schema: string,
): Promise<readonly TableOfRun[]> =>
  rowsOf(client, {
    text: `select distinct on (table_name) table_name as "table", strategy, run,
          case when run < before then jsonb_build_object('to', rolled_back_to, 'by', run_id) end as back
        from (
          select p.table_name, p.strategy, p.run_id, v.run, u.rolled_back_to,
            lag(v.run) over (partition by p.table_name order by p.run_id) as before
          from etl.published_table p join etl.run u on u.id = p.run_id
            cross join lateral (select coalesce(p.version, p.run_id)::float8 as run) v
          where u.pipeline = $1 and p.schema_name = $2
        ) published
        order by table_name, run_id desc`,
    values: [pipeline, schema],
  });

export type Version = Pick<TableOfRun, 'table' | 'run'>;

/** Returns the tables that a run published; for run 0, the tables from before the first run. */
export const tablesOfRun = (client: Client, pipeline: string, runId: number): Promise<readonly Version[]> =>
  rowsOf(client, {
    text: `select p.table_name as "table", coalesce(p.version, p.run_id)::float8 as run
        from etl.published_table p join etl.run u on u.id = p.run_id where u.pipeline = $1 and u.id = $2
      union all
      select table_name, run_id::float8 from etl.kept_table where pipeline = $1 and run_id = $2 and $2 = 0`,
    values: [pipeline, runId],
  });

interface Rollback {
  readonly pipeline: string;
  /** The run to go back to; 0: the tables from before the first run. */
  readonly to: number;
  readonly tables: readonly string[];
  readonly epoch: string;
  readonly host: string;
  readonly pid: number;
}

/**
 * Inserts the rollback as a new run. It gets the definition of the run whose tables it restores:
 * otherwise, the next run would load the same files again.
 */
export const insertRollback = ({ pipeline, to, tables, epoch, host, pid }: Rollback): Query => ({
  text: `insert into etl.run (pipeline, state, definition_hash, table_hashes, params, pinned_params, corrections, epoch, host, pid,
      workers, session, rolled_back_to)
    select $1, 'publishing', coalesce(u.definition_hash, ''),
        coalesce((select jsonb_object_agg(key, value) from jsonb_each(u.table_hashes) where key = any ($3)), '{}'),
        coalesce(u.params, '{}'), coalesce(u.pinned_params, '{}'), coalesce(u.corrections, 0), $4, $5, $6, 0, pg_backend_pid(), $2
      from (select) one left join etl.run u on u.id = $2
    returning id::float8 as id`,
  values: [pipeline, to, tables, epoch, host, pid],
});

export const forgetKept = (ids: readonly number[]): Query => ({
  text: 'delete from etl.kept_table where id = any ($1)',
  values: [ids],
});

/** What a rollback removed from production; loading it again would undo the rollback. */
export interface Withdrawn {
  readonly run: number;
  /** The run whose rows the rollback removed. */
  readonly undone: number;
  readonly definitionHash: string;
  /** Versions of files that the undone run loaded and the restored run did not. */
  readonly files: readonly { readonly table: string; readonly name: string; readonly key: string }[];
}

export const withdrawnBy = async (client: Client, pipeline: string): Promise<Withdrawn | undefined> => {
  const { rows } = await client.query(
    `with newest as (select * from etl.run where pipeline = $1 order by id desc limit 1),
      undone as (
        select k.schema_name, k.table_name, k.run_id from etl.kept_table k join newest n on n.id = k.replaced_by
          where n.state = 'published' and k.run_id > n.rolled_back_to
      )
    select n.id::float8 as run, u.id::float8 as undone, u.definition_hash as "definitionHash", array(
        select jsonb_build_object('table', f.table_name, 'name', f.name, 'key',
            jsonb_build_array(f.table_name, f.source, f.location, f.member, f.fingerprint))
          from undone o join etl.source_file f on f.run_id = o.run_id and f.table_name = o.table_name
          where not exists (
            select from etl.published_file p where p.pipeline = $1 and p.schema_name = o.schema_name
              and p.table_name = o.table_name and p.file_key = ${keyOf('f')} and p.fingerprint = f.fingerprint)
          order by f.table_name, f.ordinal
      ) as files
      from newest n, etl.run u where u.id = (select max(run_id) from undone)`,
    [pipeline],
  );
  const found = rows[0];
  if (found === undefined) return undefined;
  const files = found.files.map(({ key, ...file }: { readonly key: unknown }) => ({
    ...file,
    key: JSON.stringify(key),
  }));
  return { ...found, files };
};

export const versionKey = (
  table: string,
  {
    source,
    location,
    member,
    fingerprint,
  }: {
    readonly source: string;
    readonly location: string;
    readonly member: string | null;
    readonly fingerprint: string;
  },
): string => JSON.stringify([table, source, location, member, fingerprint]);
