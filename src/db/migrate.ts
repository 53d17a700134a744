// Brings the bookkeeping schema `etl` to the version this program knows.

import { readdir, readFile } from 'node:fs/promises';
import { EtlError } from '../errors.ts';
import { advisoryKeys } from './advisory-keys.ts';
import { withTransaction, type Client } from './client.ts';
import type { Query } from './sql.ts';

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

/** Version of the schema in the database; 0 when there is none yet. */
const currentVersion = async (client: Client): Promise<number> => {
  const exists = await client.query(`select to_regclass('etl.migration') is not null as there`);
  if (!exists.rows[0].there) return 0;
  return (await client.query(selectVersion.text)).rows[0].version;
};

const refuseNewer = (found: number, known: number): void => {
  if (found > known) throw new EtlError('ETL_SCHEMA_NEWER', { found, known });
};

const applyMissing = async (client: Client, migrations: readonly Migration[]): Promise<void> => {
  await client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.migrate]);
  await client.query('create schema if not exists etl');
  await client.query(`create table if not exists etl.migration (
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
};

/** Version of the bookkeeping in the database (0: none yet) and the one this program knows. */
export const schemaVersions = async (client: Client): Promise<{ found: number; known: number }> => ({
  found: await currentVersion(client),
  known: (await knownMigrations()).length,
});

/**
 * Applies the missing migrations in one transaction. Any number of processes may call it at once: they queue on an
 * advisory lock (test/integration/bookkeeping.test.ts, "twenty at once").
 *
 * Errors: ETL_SCHEMA_NEWER; the driver's own.
 */
export const migrate = async (client: Client): Promise<void> => {
  const migrations = await knownMigrations();
  const found = await currentVersion(client);
  refuseNewer(found, migrations.length);
  if (found === migrations.length) return;
  await withTransaction(client, () => applyMissing(client, migrations));
};
