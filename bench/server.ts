// The private server of a benchmark: the embedded PostgreSQL as a user has it, or PG_MAJOR's, in a directory that goes away with it.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { interruption } from './interruption.ts';
import { endPrograms } from './measure.ts';
import { stopEmbedded } from '../src/db/embedded/server.ts';
import { startServerAt } from '../test/helpers/major-server.ts';

export interface BenchServer {
  readonly url: string;
  readonly pid: number;
  /** Runs statements outside of what is measured. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Hands a running server and an empty directory to a function; removes both when it ends, however it ends. */
export const withServer = async <T>(
  work: (server: BenchServer, directory: string) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  // The server runs as somebody else when we are root, and must get to its data.
  chmodSync(directory, 0o755);
  const etlDirectory = join(directory, '.etl');
  const interrupted = interruption();
  try {
    const { url, pid } = await startServerAt(etlDirectory, settings);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const query: BenchServer['query'] = async (sql) => (await client.query(sql)).rows;
      return await Promise.race([work({ url, pid, query }, directory), interrupted]);
    } finally {
      endPrograms();
      await client.end();
    }
  } finally {
    await stopEmbedded(etlDirectory);
    rmSync(directory, { recursive: true, force: true });
  }
};
