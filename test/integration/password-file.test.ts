// A password that is only in PGPASSFILE or ~/.pgpass.

import { chmodSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi, afterEach } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const database = useDatabase();
const files = useFiles();

const status = async (
  variables: NodeJS.ProcessEnv = {},
): Promise<{ exit: number; err: string; warned: boolean }> => {
  const warn = vi.spyOn(process, 'emitWarning');
  const url = new URL(database.url);
  url.password = '';
  const io = fakeIo({ env: { DATABASE_URL: url.href, ...variables } });
  const exit = await main(['status'], io);
  return { exit, err: io.stderr.text, warned: warn.mock.calls.length > 0 };
};

const writePasswords = (name: string): string => {
  const { hostname, port, username, password } = new URL(database.url);
  const file = files.write(name, `elsewhere:*:*:*:no\n${hostname}:${port}:*:${username}:${password}\n`);
  chmodSync(file, 0o600);
  return file;
};

beforeEach(() => vi.stubEnv('PGPASSWORD', undefined));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('a password is found', () => {
  it('in PGPASSFILE, without a word', async () => {
    const PGPASSFILE = writePasswords('passwords');
    expect(await status({ PGPASSFILE })).toEqual({ exit: 0, err: '', warned: false });
  });

  it('in ~/.pgpass, without a word', async () => {
    writePasswords('.pgpass');
    vi.stubEnv('HOME', files.directory);
    expect(await status()).toEqual({ exit: 0, err: '', warned: false });
  });
});

it('without any, the error says that one is asked for', async () => {
  const { exit, err } = await status({ PGPASSFILE: '/nowhere' });
  expect(exit).toBe(1);
  expect(err).toMatch(/^error ETL_CONNECT_AUTH: .*it requires a password, and none was given/);
});

it('one that others may read is ignored, and the error says so', async () => {
  const PGPASSFILE = writePasswords('open');
  chmodSync(PGPASSFILE, 0o640);
  const { exit, err } = await status({ PGPASSFILE });
  expect(exit).toBe(1);
  expect(err).toMatch(/none was given; .*open is ignored, because others may read it: chmod 600/);
});
