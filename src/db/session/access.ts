// Checks a session's privileges, and that trusted roles own the schemas that a run writes.

import type { PipelineSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { stagingPrefix } from '../staging.ts';
import type { Client } from '../client.ts';
import {
  areSame,
  ownSchemas,
  readTrust,
  refuseUntrusted,
  type PipelineObjects,
  type Trust,
} from '../bookkeeping/trust.ts';
import { buildSchema, keptSchema, rehearsalName } from '../names.ts';

export interface Access {
  readonly version: string;
  readonly versionNumber: number;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  readonly user: string;
  readonly database: string;
  readonly encoding: string;
  readonly missing: readonly string[];
  /** Statements with which an administrator grants all that is missing. */
  readonly cures: readonly string[];
}

type Target = Pick<PipelineSpec, 'name' | 'schema' | 'tables'>;

/**
 * Checks each privilege with a call of its own: for a list of privileges, PostgreSQL's functions
 * return true if any of them is granted. `cure`: the statement with which an administrator grants it.
 *
 * A role that may not create schemas uses those that an administrator has created. `$5`: without a
 * pipeline, any build schema in which the role may create tables is enough.
 */
const selectAccess = `
  with wanted (schema, writes, makes) as (
    select * from (values ('etl', true, not exists (select from pg_class
        where relname = 'migration' and relnamespace = to_regnamespace('etl'))), ('etl_queue', $6, true),
      ('etl_staging', false, true), ($2, false, true), ($1, false, true), ($5, false, true), ($4, false, true)) as w
      where column1 is not null and (column1 not in ($1, $5) or not has_database_privilege(current_database(), 'create'))
        and (column1 <> 'etl_queue' or $6)
        and not ($2::text is null and column1 = $1 and exists (select from pg_namespace
          where starts_with(nspname, $5) and nspname <> $5 and has_schema_privilege(oid, 'create')))
  ),
  there as (
    select w.*, n.oid as namespace from wanted w left join pg_namespace n on n.nspname = w.schema
  ),
  problems as (
    select 'create schema ' || schema || ' in database ' || current_database() as problem,
        case when to_regnamespace('etl') is null then format('grant create on database %I to %I', current_database(), current_user)
          else format('create schema %I authorization %I', schema, current_user) end as cure
      from there where namespace is null and not has_database_privilege(current_database(), 'create')
    union all
    select 'use schema ' || schema, format('grant usage on schema %I to %I', schema, current_user)
      from there where not has_schema_privilege(namespace, 'usage')
    union all
    select 'create in schema ' || schema, format('grant create on schema %I to %I', schema, current_user)
      from there where makes and not has_schema_privilege(namespace, 'create')
    union all
    select format('write the tables of schema %s (%s), which belong to %s',
        t.schema, string_agg(c.relname, ', ' order by c.relname), pg_get_userbyid(c.relowner)),
        format('grant select, insert, update, delete on all tables in schema %I to %I', t.schema, current_user)
      from there t join pg_class c on c.relnamespace = t.namespace
      where t.writes and c.relkind in ('r', 'p')
        and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
          and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
      group by t.schema, c.relowner
    union all
    select format('use the sequences of schema %s, which belong to %s', t.schema, pg_get_userbyid(c.relowner)),
        format('grant usage on all sequences in schema %I to %I', t.schema, current_user)
      from there t join pg_class c on c.relnamespace = t.namespace
      -- Uses a case expression, because the planner may reorder conditions, and
      -- has_sequence_privilege() raises an error for anything but a sequence.
      where t.writes and case c.relkind when 'S' then not has_sequence_privilege(c.oid, 'usage') end
        -- Skips sequences of identity columns, which need no privilege, and BullMQ's sequences.
        and c.relname not like 'bullmq\\_jid\\_%'
        and not exists (select from pg_depend where objid = c.oid and classid = 'pg_class'::regclass and deptype = 'i')
      group by t.schema, c.relowner
    union all
    select 'create temporary tables in database ' || current_database(),
        format('grant temporary on database %I to %I', current_database(), current_user)
      where $6 and not has_database_privilege(current_database(), 'temporary')
    union all
    select 'replace table ' || n.nspname || '.' || c.relname || ', which belongs to ' || pg_get_userbyid(c.relowner),
        format('alter table %I.%I owner to %I', n.nspname, c.relname, current_user)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $2 and c.relname = any ($3) and not pg_has_role(c.relowner, 'usage')
    union all
    -- A session that may change this setting has already changed it at its start.
    select 'set session_replication_role to origin (it is replica for this role or database, and so foreign keys are not checked)',
        format('alter role %I in database %I set session_replication_role = origin', current_user, current_database())
      where current_setting('session_replication_role') = 'replica'
  )
  select current_setting('server_version') as version,
    current_setting('server_version_num')::int as "versionNumber",
    pg_is_in_recovery() as "isStandby",
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    current_user as "user", current_database() as database, current_setting('server_encoding') as encoding,
    coalesce((select array_agg(problem) from problems), '{}') as missing,
    coalesce((select array_agg(distinct cure) from problems), '{}') as cures`;

/** `queuesHere`: whether the queues are in this database. */
export const readAccess = async (client: Client, queuesHere: boolean, target?: Target): Promise<Access> => {
  const tables = target?.tables.map(({ name }) => name) ?? [];
  const kept = target?.tables.some(({ keep }) => keep !== undefined) ? keptSchema : null;
  const builds = [buildSchema(target?.name ?? '<pipeline>'), buildSchema(rehearsalName)];
  const values = [builds[0], target?.schema ?? null, tables, kept, builds[1], queuesHere];
  return (await client.query(selectAccess, values)).rows[0];
};

/** Refuses missing privileges, all in one error. Errors: ETL_PERMISSION. */
export const refuseMissing = ({ user, missing, cures }: Pick<Access, 'user' | 'missing' | 'cures'>): void => {
  if (missing.length === 0) return;
  const problem = 'the privilege is missing';
  throw new EtlError('ETL_PERMISSION', { user, action: missing.join('; '), problem, cure: curedBy(cures) });
};

export const curedBy = (cures: readonly string[]): string =>
  cures.length === 0 ? '' : `: \`${cures.join('; ')}\``;

const objectsOf = (pipeline: string): PipelineObjects => ({
  buildSchemas: [buildSchema(pipeline), buildSchema(rehearsalName)],
  stagingPrefix: stagingPrefix(pipeline),
});

export const trustFor = (client: Client, pipeline: string): Promise<Trust> =>
  readTrust(client, objectsOf(pipeline));

/** Refuses schemas and objects of untrusted roles. Errors: ETL_UNTRUSTED. */
export const refuseStrangers = async (client: Client, pipeline: string): Promise<Trust> => {
  const trust = await trustFor(client, pipeline);
  refuseUntrusted(trust);
  return trust;
};

/**
 * Repeats the check only if a schema was replaced since `before`. This is enough for a caller that
 * writes only into objects that it has just created.
 */
export const refuseOtherSchemas = async (
  client: Client,
  pipeline: string,
  before: Trust | undefined,
): Promise<void> => {
  if (before === undefined || !(await areSame(client, before, [...ownSchemas, buildSchema(pipeline)])))
    await refuseStrangers(client, pipeline);
};
