// Refuses a run that cannot succeed, before any work: on a standby, as a read-only user, with
// another encoding, or without a privilege.

import type { PipelineSpec } from '../core/declaration.ts';
import type { ServerAddress } from '../db/connect/address.ts';
import { withPath, withTransaction, type Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { refuseUntrusted, type Trust } from '../db/bookkeeping/trust.ts';
import { EtlError } from '../core/errors/errors.ts';
import { distributionProblems } from '../publish/table/distribution.ts';
import { typeOf } from '../format/types/registry.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { serverVersionMin } from '../core/limits.ts';
import { Problems } from '../pipeline/problems.ts';
import { authorsPath } from '../db/names.ts';
import { readAccess, refuseMissing, trustFor } from '../db/session/access.ts';

const selectUnknownTypes =
  'select name from pg_catalog.unnest($1::pg_catalog.text[]) as name where pg_catalog.to_regtype(name) is null';

const checkSearchPath = async (
  client: Client,
  { name: pipeline, searchPath }: PipelineSpec,
): Promise<void> => {
  if (searchPath.length === 0) return;
  const { rows } = await client.query(
    'select name from unnest($1::text[]) as name where not exists (select from pg_namespace where nspname = name)',
    [searchPath],
  );
  const problems = new Problems();
  for (const { name } of rows)
    problems.at('searchPath').add(`the server has no schema \`${name}\`; create it, or leave it out`);
  problems.throwIfAny(pipeline);
};

const checkTypes = async (client: Client, spec: PipelineSpec): Promise<void> => {
  const { name: pipeline, tables } = spec;
  const columns = tables.flatMap((table) =>
    (table.kind === 'source' ? table.columns : []).flatMap((column) =>
      column.type === 'of'
        ? [{ table: table.name, name: column.name, sqlType: typeOf(column).sql(column.options) }]
        : [],
    ),
  );
  if (columns.length === 0) return;
  const names = columns.map(({ sqlType }) => sqlType);
  const { rows } = await withTransaction(client, () =>
    withPath(client, authorsPath(spec), () => client.query(selectUnknownTypes, [names])),
  );
  const unknown = new Set(rows.map(({ name }) => name));
  const problems = new Problems();
  for (const { table, name, sqlType } of columns)
    if (unknown.has(sqlType))
      problems
        .at(`table ${table}, column ${name}`)
        .add(
          `the server has no type \`${sqlType}\`; create it, write its name with its schema, or add the schema to searchPath`,
        );
  problems.throwIfAny(pipeline);
};

const checkDistributions = async (client: Client, spec: PipelineSpec): Promise<void> => {
  const problems = new Problems();
  for (const { table, problem } of await distributionProblems(client, spec))
    problems.at(`table ${table}, distribute`).add(problem);
  problems.throwIfAny(spec.name);
};

interface Preflight {
  readonly address: ServerAddress;
  readonly backend: QueueBackend;
  readonly spec: PipelineSpec;
}

/**
 * Checks the server and returns the owners of our schemas. Errors: ETL_SERVER_VERSION,
 * ETL_SERVER_ENCODING, ETL_STANDBY, ETL_READ_ONLY, ETL_UNTRUSTED, ETL_PERMISSION naming everything
 * that is missing, ETL_DEFINITION naming missing schemas and types, and distributions without Citus.
 */
export const preflight = async (client: Client, { address, backend, spec }: Preflight): Promise<Trust> => {
  const { label } = address;
  const [access, trust] = await askTogether(client, () => [
    readAccess(client, backend.databaseConnectionsMax > 0, spec),
    trustFor(client, spec.name),
  ]);
  const { version, versionNumber, isStandby, isReadOnly, user, database, encoding } = access;
  if (versionNumber < serverVersionMin) throw new EtlError('ETL_SERVER_VERSION', { server: label, version });
  // A database in SQL_ASCII stores any bytes without checking or converting them.
  if (encoding !== 'UTF8') throw new EtlError('ETL_SERVER_ENCODING', { server: label, database, encoding });
  if (isStandby) throw new EtlError('ETL_STANDBY', { server: label });
  if (isReadOnly) throw new EtlError('ETL_READ_ONLY', { server: label, user });
  refuseUntrusted(trust);
  refuseMissing(access);
  await checkSearchPath(client, spec);
  await checkTypes(client, spec);
  await checkDistributions(client, spec);
  return trust;
};
