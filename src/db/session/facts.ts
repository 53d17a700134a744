// Reads facts of the server that matter for bulk loading: settings, connections, disk, crashes.

import { statfs } from 'node:fs/promises';
import type { ServerAddress } from '../connect/address.ts';
import type { Client } from '../client.ts';
import { schemaVersions } from '../bookkeeping/migrate.ts';
import { otherShape, readOnlyPlainTables, readTrust, type Trust } from '../bookkeeping/trust.ts';
import { buildSchema } from '../names.ts';
import { isStagingOf } from '../staging.ts';
import { readAccess, type Access } from './access.ts';

/** A setting's value; `number` is in bytes, seconds or the setting's unit, null for a word. */
export interface SettingValue {
  readonly text: string;
  readonly number: number | null;
}

export interface Demand {
  readonly workers: number;
  readonly backend: { readonly databaseConnectionsMax: number };
}

export const connectionsNeeded = ({ workers, backend }: Demand): number =>
  1 + workers + backend.databaseConnectionsMax;

interface ConnectionLimit {
  readonly name: string;
  readonly limit: number;
  readonly used: number;
}

interface StagingTable {
  readonly name: string;
  readonly bytes: number;
}

interface CrashHistory {
  /** null: a crash has emptied the canary table, or it was never filled. */
  readonly epoch: string | null;
  /** Newest unfinished run of each pipeline whose staged chunks a crash has emptied. */
  readonly lost: readonly { readonly run: number; readonly pipeline: string }[];
  readonly crashesSeen: number;
  readonly lastSeenBy: number | null;
}

export interface Bookkeeping {
  readonly found: number;
  readonly known: number;
  readonly crashes: CrashHistory | undefined;
  /** Staging tables that no unfinished run can continue with. */
  readonly stale: readonly string[];
}

export interface ServerFacts {
  readonly isPooled: boolean;
  readonly access: Access;
  readonly isSuperuser: boolean;
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** True if a standby, a replication slot or an archive needs the full write-ahead log. */
  readonly logIsUsed: boolean;
  readonly connectionLimits: readonly ConnectionLimit[];
  readonly databaseBytes: number;
  readonly freeBytes: number | undefined;
  readonly startedAt: Date;
  /** Every crash restarts the checkpointer; null if hidden from this user. */
  readonly checkpointerStartedAt: Date | null;
  readonly staging: readonly StagingTable[];
  readonly trust: Pick<Trust, 'foreign' | 'strange'> & {
    /** Untrusted objects in build schemas and staging tables of single pipelines. */
    readonly foreignOfPipelines: readonly string[];
  };
  /** undefined: missing, closed to this user (see `access.missing`), or not safe to read. */
  readonly bookkeeping: Bookkeeping | undefined;
}

export const settingNames = [
  'wal_level',
  'fsync',
  'full_page_writes',
  'max_wal_size',
  'checkpoint_timeout',
  'shared_buffers',
  'max_parallel_maintenance_workers',
] as const;

const selectSettings = `
  select name, current_setting(name) as text,
    case when vartype in ('integer', 'real') then setting::float8 * case unit
      when '8kB' then 8192 when 'kB' then 1024 when 'MB' then 1048576
      when 'min' then 60 when 'ms' then 0.001 else 1 end end as number
  from pg_settings where name = any ($1)`;

const selectServer = `
  select (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
    current_setting('archive_mode') <> 'off' or exists (select from pg_stat_replication)
      or exists (select from pg_replication_slots) as "logIsUsed",
    pg_database_size(current_database())::float8 as "databaseBytes",
    pg_postmaster_start_time() as "startedAt",
    (select backend_start from pg_stat_activity where backend_type = 'checkpointer') as "checkpointerStartedAt"`;

// Without pg_monitor, backend_type is hidden, but a process's database is visible.
const selectConnectionLimits = `
  with session as (
    select usesysid, datid from pg_stat_activity
      where datid is not null and pid <> pg_backend_pid() and coalesce(backend_type, 'client backend') = 'client backend'
  )
  select 'max_connections' as name,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int as "limit",
    (select count(*) from session)::int as used
  union all
  select 'connection limit of ' || rolname, rolconnlimit,
    (select count(*) from session where usesysid = r.oid)::int
    from pg_roles r where rolname = current_user and rolconnlimit >= 0 and not rolsuper
  union all
  select 'connection limit of database ' || datname, datconnlimit,
    (select count(*) from session where datid = d.oid)::int
    from pg_database d where datname = current_database() and datconnlimit >= 0`;

const selectStaging = `
  select c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'etl_staging' and c.relpersistence = 'u' and c.relkind = 'r'
  order by 2 desc, 1`;

const selectStale = `
  with newest as (
    select distinct on (pipeline) pipeline, state, table_hashes from etl.run order by pipeline, id desc
  )
  select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'etl_staging' and c.relkind = 'r' and not exists (
    select from newest
    where state <> 'published' and ${isStagingOf("(pipeline || '__')", 'table_hashes')})
  order by 1`;

const selectCrashes = `
  with newest as (
    select distinct on (pipeline) id, pipeline, state, epoch from etl.run order by pipeline, id desc
  )
  select (select epoch from etl.canary) as epoch,
    (select coalesce(json_agg(json_build_object('run', id, 'pipeline', pipeline) order by id), '[]') from newest
      where state <> 'published' and epoch is distinct from (select epoch from etl.canary)) as lost,
    (select coalesce(sum(crashes_seen), 0)::int from etl.run) as "crashesSeen",
    (select max(id)::float8 from etl.run where crashes_seen > 0) as "lastSeenBy"`;

// Reads catalogues, because naming a table in a schema that is closed to us would be an error.
const selectIsReadable = `
  select count(*) = 3 and bool_and(has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')) as readable
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'etl' and c.relname in ('migration', 'run', 'canary')`;

const readBookkeeping = async (
  client: Client,
  { isStandby }: Access,
  trust: Trust,
): Promise<Bookkeeping | undefined> => {
  if (trust.strange.length > 0) return undefined;
  if (!(await client.query(selectIsReadable)).rows[0].readable) return undefined;
  // A standby refuses to read unlogged tables (test/services/standby.test.ts).
  const crashes = isStandby ? undefined : (await client.query(selectCrashes)).rows[0];
  const stale = (await client.query(selectStale)).rows.map(({ name }) => name);
  return { ...(await schemaVersions(client, trust)), crashes, stale };
};

export const freeBytesOf = async ({ embedded }: ServerAddress): Promise<number | undefined> => {
  if (embedded === undefined) return undefined;
  const { bavail, bsize } = await statfs(embedded.directory).catch(() => ({ bavail: undefined, bsize: 0 }));
  return bavail === undefined ? undefined : bavail * bsize;
};

const selectBuildSchemas = `
  select coalesce(array_agg(nspname::text), '{}') as builds from pg_namespace where starts_with(nspname, $1)`;

const readForeignOfPipelines = async (client: Client, { foreign }: Trust): Promise<readonly string[]> => {
  const { builds } = (await client.query(selectBuildSchemas, [buildSchema('')])).rows[0];
  const everywhere = await readTrust(client, { buildSchemas: builds, stagingPrefix: '' });
  return everywhere.foreign.filter((problem) => !foreign.includes(problem));
};

export const readServerFacts = async (
  client: Client,
  address: ServerAddress,
  queuesHere: boolean,
): Promise<ServerFacts> => {
  await readOnlyPlainTables(client);
  const access = await readAccess(client, queuesHere);
  const trust = await readTrust(client);
  const bookkeeping = await readBookkeeping(client, access, trust);
  const isCurrent = bookkeeping !== undefined && bookkeeping.found === bookkeeping.known;
  const settings = await client.query(selectSettings, [settingNames]);
  return {
    isPooled: client.isPooled,
    access,
    ...(await client.query(selectServer)).rows[0],
    settings: Object.fromEntries(settings.rows.map(({ name, text, number }) => [name, { text, number }])),
    connectionLimits: (await client.query(selectConnectionLimits)).rows,
    freeBytes: await freeBytesOf(address),
    staging: (await client.query(selectStaging)).rows,
    trust: {
      ...trust,
      strange: [...trust.strange, ...(isCurrent ? otherShape(trust) : [])],
      foreignOfPipelines: await readForeignOfPipelines(client, trust),
    },
    bookkeeping,
  };
};
