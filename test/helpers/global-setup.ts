// Starts one PostgreSQL server for a whole test run, in a fresh directory, and removes both at the end.
//
// Everything that the run's processes put into the system's temporary directory is below that directory, servers of tests included. A
// process beside the run stops and removes them also when the run ends by a signal.

import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

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

/** In a session of its own, which a signal to the run's group does not reach; it never keeps the run from ending. */
const guard = (directory: string): void => {
  const program = fileURLToPath(new URL('run-guard.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.unref();
  (child.stdin as Socket).unref();
};

/** Called by Vitest once; what it returns is called at the end, also when tests failed. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-test-'));
  // Like /tmp: as root the server runs as another user, and so do some programs.
  await chmod(directory, 0o1777);
  guard(directory);
  process.env['TMPDIR'] = directory;
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
