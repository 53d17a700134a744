// Migrates the bookkeeping schema `etl` to this program's version.

import { readdir, readFile } from 'node:fs/promises';
import { EtlError } from '../../core/errors/errors.ts';
import { advisoryKeys } from '../connect/advisory-keys.ts';
import { askTogether } from '../ask-together.ts';
import { ensureSchema, withTransaction, type Client } from '../client.ts';
import type { Query } from '../sql.ts';
import { otherShape, readTrust, refuseOtherShape, refuseUntrusted, type Trust } from './trust.ts';

const migrationsDirectory = new URL('./migrations/', import.meta.url);

const migrationFiles = async (): Promise<readonly string[]> =>
  (await readdir(migrationsDirectory)).filter((file) => file.endsWith('.sql')).sort();

const selectVersion: Query = { text: 'select coalesce(max(version), 0)::int as version from etl.migration' };

const refuseNewer = (found: number, known: number): void => {
  if (found > known) throw new EtlError('ETL_SCHEMA_NEWER', { found, known });
};

const currentVersion = async (client: Client, { isThere }: Trust): Promise<number> =>
  isThere ? (await client.query(selectVersion.text)).rows[0].version : 0;

const applyMissing = async (client: Client, files: readonly string[]): Promise<Trust> => {
  await client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.migrate]);
  // Creates both schemas before the check, so that no untrusted role can create them afterwards.
  await ensureSchema(client, 'etl');
  await ensureSchema(client, 'etl_staging');
  const trust = await readTrust(client);
  refuseUntrusted(trust);
  if (!trust.isThere)
    await client.query(`create table etl.migration (
      version integer primary key,
      file text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`);
  const found: number = (await client.query(selectVersion.text)).rows[0].version;
  refuseNewer(found, files.length);
  for (const file of files.slice(found)) {
    await client.query(await readFile(new URL(file, migrationsDirectory), 'utf8'));
    const version = Number.parseInt(file, 10);
    await client.query('insert into etl.migration (version, file) values ($1, $2)', [version, file]);
  }
  return trust;
};

/** Versions of the schema: `found` in the database (0: no schema yet), `known` to this program. */
export const schemaVersions = async (
  client: Client,
  trust: Trust,
): Promise<{ found: number; known: number }> => ({
  found: await currentVersion(client, trust),
  known: (await migrationFiles()).length,
});

/**
 * Applies missing migrations; many processes may call this at once (proved by
 * test/integration/bookkeeping.test.ts, "twenty at once"). Errors: ETL_UNTRUSTED,
 * ETL_SCHEMA_NEWER.
 */
export const migrate = async (client: Client, seen?: Trust): Promise<Trust> => {
  const trust = seen ?? (await readTrust(client));
  refuseUntrusted(trust);
  const [found, files] = await Promise.all([currentVersion(client, trust), migrationFiles()]);
  refuseNewer(found, files.length);
  if (found === files.length) {
    // Another process may have migrated since `trust` was read.
    if (otherShape(trust).length > 0) refuseOtherShape(await readTrust(client));
    return trust;
  }
  return withTransaction(client, () => applyMissing(client, files));
};

/** True if the bookkeeping can be used at once. It may still lack migrations that keep its shape. */
const isComplete = (trust: Trust): boolean => trust.isThere && otherShape(trust).length === 0;

/**
 * Migrates, and calls `ask` beside it, or after it if a migration may change the tables that `ask`
 * needs. Errors: those of `migrate` and `ask`.
 */
export const migrateBeside = async <Asked>(
  client: Client,
  seen: Trust,
  ask: () => Promise<Asked>,
): Promise<readonly [Trust, Asked]> => {
  refuseUntrusted(seen);
  return isComplete(seen)
    ? askTogether(client, () => [migrate(client, seen), ask()])
    : [await migrate(client, seen), await ask()];
};
