// What can be known to fail is refused before any work: a standby, a read-only user, a privilege that is missing.

import type { PipelineSpec } from '../declaration.ts';
import type { ServerAddress } from '../db/address.ts';
import type { Client } from '../db/client.ts';
import { EtlError } from '../errors.ts';
import { serverVersionMin } from '../limits.ts';

/** One row of facts about server, user and schemas. */
interface Facts {
  readonly version: string;
  readonly versionNumber: number;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  readonly user: string;
  readonly database: string;
  /** What is missing, as a privilege in words. */
  readonly missing: readonly string[];
}

/** Schemas that must be there with `create`, or be creatable; and existing tables of the pipeline must be ours. */
const selectFacts = `
  with wanted (schema) as (select unnest($1::text[])),
  problems as (
    select 'create schema ' || schema || ' in database ' || current_database() as problem from wanted
      where to_regnamespace(quote_ident(schema)) is null
        and not has_database_privilege(current_user, current_database(), 'create')
    union all
    select 'create tables in schema ' || schema from wanted
      where to_regnamespace(quote_ident(schema)) is not null
        and not has_schema_privilege(current_user, schema, 'create, usage')
    union all
    select 'replace table ' || n.nspname || '.' || c.relname || ', which belongs to ' || pg_get_userbyid(c.relowner)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $2 and c.relname = any ($3) and not pg_has_role(current_user, c.relowner, 'usage')
    union all
    select 'create schema etl_build_' || $4 || ' in database ' || current_database()
      where not has_database_privilege(current_user, current_database(), 'create')
        and to_regnamespace('etl_build_' || $4) is null
  )
  select current_setting('server_version') as version,
    current_setting('server_version_num')::int as "versionNumber",
    pg_is_in_recovery() as "isStandby",
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    current_user as "user", current_database() as database,
    coalesce((select array_agg(problem) from problems), '{}') as missing`;

const facts = async (client: Client, spec: PipelineSpec): Promise<Facts> => {
  const schemas = ['etl', 'etl_staging', 'etl_queue', spec.schema];
  const tables = spec.tables.map(({ name }) => name);
  return (await client.query(selectFacts, [schemas, spec.schema, tables, spec.name])).rows[0];
};

/**
 * Looks before the run does anything. Errors: ETL_SERVER_VERSION, ETL_STANDBY, ETL_READ_ONLY, ETL_PERMISSION naming
 * everything that is missing.
 */
export const preflight = async (
  client: Client,
  { label }: ServerAddress,
  spec: PipelineSpec,
): Promise<void> => {
  const { version, versionNumber, isStandby, isReadOnly, user, missing } = await facts(client, spec);
  if (versionNumber < serverVersionMin) throw new EtlError('ETL_SERVER_VERSION', { server: label, version });
  if (isStandby) throw new EtlError('ETL_STANDBY', { server: label });
  if (isReadOnly) throw new EtlError('ETL_READ_ONLY', { server: label, user });
  if (missing.length === 0) return;
  const problem = 'the privilege is missing';
  throw new EtlError('ETL_PERMISSION', { user, action: missing.join('; '), problem });
};
