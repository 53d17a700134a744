// Starts one PostgreSQL server for a whole test run, in a fresh directory, and removes both at the end.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { stopEmbedded } from '../../src/embedded/server.ts';
import { startServerAt } from './major-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Of a superuser on the server of this test run; useDatabase() gives each test file a database of its
     * own.
     */
    serverUrl: string;
  }
}

/** Called by Vitest once; what it returns is called at the end, also when tests failed. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-test-'));
  // As root the server runs as another user, who must be able to get here.
  await chmod(directory, 0o755);
  const etlDirectory = join(directory, '.etl');
  const remove = async (): Promise<void> => {
    await stopEmbedded(etlDirectory);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    // Nobody needs these databases after a power failure.
    const server = await startServerAt(etlDirectory, { fsync: 'off', max_connections: '200' });
    project.provide('serverUrl', server.url);
    return remove;
  } catch (error) {
    await remove();
    throw error;
  }
};
