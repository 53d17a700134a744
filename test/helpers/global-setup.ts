// Starts one PostgreSQL server for a whole test run, in a fresh directory, and removes both at the end.
//
// What the run's processes put into the temporary directory is below that directory, too, servers of tests included. A process beside the
// run stops and removes all of it also when the run ends by a signal. Proved by test/fault/ended-run.test.ts.

import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

import type { TestProject } from 'vitest/node';

import { endServersBelow } from './end-servers.ts';
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
  guard(directory);
  // Beside each other: from a directory below one with a server that server would be found.
  const [temporary, own] = [join(directory, 'tmp'), join(directory, 'server')];
  for (const each of [temporary, own]) await mkdir(each);
  // Like /tmp, because some programs run as other users. As root the server does, too, and must be able to get here.
  await chmod(temporary, 0o1777);
  for (const each of [directory, own]) await chmod(each, 0o755);
  process.env['TMPDIR'] = temporary;
  const remove = async (): Promise<void> => {
    await endServersBelow(directory);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    // Nobody needs these databases after a power failure.
    const server = await startServerAt(join(own, '.etl'), { fsync: 'off', max_connections: '200' });
    project.provide('serverUrl', server.url);
    return remove;
  } catch (error) {
    await remove();
    throw error;
  }
};
