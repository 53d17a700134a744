// Checks a session's privileges, and that trusted roles own the schemas that a run writes.

import type { PipelineSpec } from '../../core/declaration.ts';
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
import { buildSchema, keptSchema } from '../names.ts';

export interface Access {
  readonly version: string;
  readonly versionNumber: number;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  readonly user: string;
  readonly database: string;
  readonly encoding: string;
  readonly missing: readonly string[];
}

type Target = Pick<PipelineSpec, 'name' | 'schema' | 'tables'>;

/**
 * Checks each privilege with a call of its own: for a list of privileges, PostgreSQL's functions
 * return true if any of them is granted.
 */
const selectAccess = `
  with wanted (schema, writes, makes) as (
    select * from (values ('etl', true, false), ('etl_queue', true, true), ('etl_staging', false, true),
      ($2, false, true), ($4, false, true)) as w where column1 is not null
  ),
  there as (
    select w.*, n.oid as namespace from wanted w left join pg_namespace n on n.nspname = w.schema
  ),
  problems as (
    select 'create schema ' || schema || ' in database ' || current_database() as problem from there
      where namespace is null and not has_database_privilege(current_database(), 'create')
    union all
    select 'create schema ' || $1 || ' in database ' || current_database()
      where not has_database_privilege(current_database(), 'create')
        and not exists (select from pg_namespace where nspname = $1)
    union all
    select 'use schema ' || schema from there where not has_schema_privilege(namespace, 'usage')
    union all
    select 'create in schema ' || schema from there
      where makes and not has_schema_privilege(namespace, 'create')
    union all
    select format('write the tables of schema %s (%s), which belong to %s',
        t.schema, string_agg(c.relname, ', ' order by c.relname), pg_get_userbyid(c.relowner))
      from there t join pg_class c on c.relnamespace = t.namespace
      where t.writes and c.relkind in ('r', 'p')
        and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
          and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
      group by t.schema, c.relowner
    union all
    select format('use the sequences of schema %s, which belong to %s', t.schema, pg_get_userbyid(c.relowner))
      from there t join pg_class c on c.relnamespace = t.namespace
      -- Uses a case expression, because the planner may reorder conditions, and
      -- has_sequence_privilege() raises an error for anything but a sequence.
      where t.writes and case c.relkind when 'S' then not has_sequence_privilege(c.oid, 'usage') end
        -- Skips sequences of identity columns, which need no privilege, and BullMQ's sequences.
        and c.relname not like 'bullmq\\_jid\\_%'
        and not exists (select from pg_depend where objid = c.oid and classid = 'pg_class'::regclass and deptype = 'i')
      group by t.schema, c.relowner
    union all
    select 'replace table ' || n.nspname || '.' || c.relname || ', which belongs to ' || pg_get_userbyid(c.relowner)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $2 and c.relname = any ($3) and not pg_has_role(c.relowner, 'usage')
    union all
    -- A session that may change this setting has already changed it at its start.
    select 'set session_replication_role to origin (it is replica for this role or database, and so foreign keys are not checked)'
      where current_setting('session_replication_role') = 'replica'
  )
  select current_setting('server_version') as version,
    current_setting('server_version_num')::int as "versionNumber",
    pg_is_in_recovery() as "isStandby",
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    current_user as "user", current_database() as database, current_setting('server_encoding') as encoding,
    coalesce((select array_agg(problem) from problems), '{}') as missing`;

export const readAccess = async (client: Client, target?: Target): Promise<Access> => {
  const tables = target?.tables.map(({ name }) => name) ?? [];
  const kept = target?.tables.some(({ keep }) => keep !== undefined) ? keptSchema : null;
  const values = [buildSchema(target?.name ?? '<pipeline>'), target?.schema ?? null, tables, kept];
  return (await client.query(selectAccess, values)).rows[0];
};

const objectsOf = (pipeline: string): PipelineObjects => ({
  buildSchemas: [buildSchema(pipeline)],
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
