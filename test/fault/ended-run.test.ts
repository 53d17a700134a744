// A test run that is killed leaves no server behind, and no directory.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { identityOf } from '../../src/db/embedded/process.ts';
import { findEmbedded } from '../../src/db/embedded/server.ts';
import { useFiles } from '../helpers/files.ts';
import { until } from '../helpers/workers.ts';

const { directory } = useFiles();

it('a run of vitest that is killed: its server ends, and its directory is removed', async () => {
  const args = ['node_modules/vitest/vitest.mjs', 'run', 'test/unit/core/nearest.test.ts'];
  // `findEmbedded` knows only the embedded server's own version.
  const env = { ...process.env, TMPDIR: directory, PG_MAJOR: undefined };
  const run = spawn(process.execPath, args, { env, stdio: 'ignore' });
  const ended = once(run, 'exit');
  const own = () => readdirSync(directory).find((name) => name.startsWith('sluice-test-'));
  const find = async () => findEmbedded(join(directory, own() ?? 'not yet', 'server/.etl'));
  await until(async () => (await find()) !== undefined);
  const { pid } = (await find())!;
  const server = identityOf(pid);
  run.kill('SIGKILL');
  await ended;
  await until(() => own() === undefined);
  expect([server, identityOf(pid) === server]).toEqual([expect.any(String), false]);
});
