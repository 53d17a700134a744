// A password that is in PGPASSFILE or ~/.pgpass, and nowhere else.

import { chmodSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi, afterEach } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const database = useDatabase();
const files = useFiles();

const status = async (): Promise<{ exit: number; err: string; warned: boolean }> => {
  const warn = vi.spyOn(process, 'emitWarning');
  const url = new URL(database.url);
  url.password = '';
  const io = fakeIo({ env: { DATABASE_URL: url.href } });
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
    vi.stubEnv('PGPASSFILE', writePasswords('passwords'));
    expect(await status()).toEqual({ exit: 0, err: '', warned: false });
  });

  it('in ~/.pgpass, without a word', async () => {
    writePasswords('.pgpass');
    vi.stubEnv('PGPASSFILE', undefined);
    vi.stubEnv('HOME', files.directory);
    expect(await status()).toEqual({ exit: 0, err: '', warned: false });
  });
});

it('without any, the error says that one is asked for', async () => {
  vi.stubEnv('PGPASSFILE', '/nowhere');
  const { exit, err } = await status();
  expect(exit).toBe(1);
  expect(err).toMatch(/^error ETL_CONNECT_AUTH: .*it requires a password, and none was given/);
});
