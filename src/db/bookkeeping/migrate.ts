// Brings the bookkeeping schema `etl` to the version this program knows.

import { readdir, readFile } from 'node:fs/promises';
import { EtlError } from '../../core/errors/errors.ts';
import { advisoryKeys } from '../connect/advisory-keys.ts';
import { ensureSchema, withTransaction, type Client } from '../client.ts';
import type { Query } from '../sql.ts';
import { otherShape, readTrust, refuseOtherShape, refuseUntrusted, type Trust } from './trust.ts';

const migrationsDirectory = new URL('./migrations/', import.meta.url);

interface Migration {
  readonly version: number;
  readonly file: string;
}

const knownMigrations = async (): Promise<readonly Migration[]> => {
  const files = (await readdir(migrationsDirectory)).filter((file) => file.endsWith('.sql')).sort();
  return files.map((file) => ({ version: Number.parseInt(file, 10), file }));
};

const selectVersion: Query = { text: 'select coalesce(max(version), 0)::int as version from etl.migration' };

const refuseNewer = (found: number, known: number): void => {
  if (found > known) throw new EtlError('ETL_SCHEMA_NEWER', { found, known });
};

/** Version of the schema in the database; 0 when there is none yet. */
const currentVersion = async (client: Client, { isThere }: Trust): Promise<number> =>
  isThere ? (await client.query(selectVersion.text)).rows[0].version : 0;

const applyMissing = async (client: Client, migrations: readonly Migration[]): Promise<Trust> => {
  await client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.migrate]);
  // Made before it is looked at: from here on nobody else can make them, or anything in them.
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
  refuseNewer(found, migrations.length);
  for (const { version, file } of migrations.slice(found)) {
    await client.query(await readFile(new URL(file, migrationsDirectory), 'utf8'));
    await client.query('insert into etl.migration (version, file) values ($1, $2)', [version, file]);
  }
  return trust;
};

/** Version of the bookkeeping in the database (0: none yet) and the one this program knows. */
export const schemaVersions = async (
  client: Client,
  trust: Trust,
): Promise<{ found: number; known: number }> => ({
  found: await currentVersion(client, trust),
  known: (await knownMigrations()).length,
});

/**
 * Applies the missing migrations in one transaction, after it has looked at what is there, unless the caller has. Any number of
 * processes may call it at once: they queue on an advisory lock (test/integration/bookkeeping.test.ts, "twenty at once"). Returns
 * what was found, and is trusted.
 *
 * Errors: ETL_UNTRUSTED, ETL_SCHEMA_NEWER; the driver's own.
 */
export const migrate = async (client: Client, seen?: Trust): Promise<Trust> => {
  const trust = seen ?? (await readTrust(client));
  refuseUntrusted(trust);
  const migrations = await knownMigrations();
  const found = await currentVersion(client, trust);
  refuseNewer(found, migrations.length);
  if (found === migrations.length) {
    // Another process may have migrated in between: then the earlier shape was read.
    if (otherShape(trust).length > 0) refuseOtherShape(await readTrust(client));
    return trust;
  }
  return withTransaction(client, () => applyMissing(client, migrations));
};
