// sslmode as libpq means it, on a server with TLS and on one without.

import { execFileSync } from 'node:child_process';
import { chown, chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import noaa from '../../pipelines/noaa.ts';
import { addressFromUrl, resolveServer } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import {
  ask,
  makeServerDirectory,
  openOwnServer,
  startOwnServer,
  type OwnServer,
} from '../helpers/own-server.ts';

let own: OwnServer;
let certificates: string;

const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { cwd: certificates, stdio: 'pipe' });

/** An authority, a server certificate of it for localhost, and another authority that signed nothing. */
const makeCertificates = async (): Promise<void> => {
  certificates = await mkdtemp(join(tmpdir(), 'sluice-tls-'));
  await chmod(certificates, 0o755);
  const fresh = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout'];
  openssl(...fresh, 'root.key', '-out', 'root.crt', '-subj', '/CN=test authority');
  openssl(...fresh, 'other.key', '-out', 'other.crt', '-subj', '/CN=another authority');
  openssl(
    ...fresh,
    'server.key',
    '-out',
    'server.crt',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
    '-CA',
    'root.crt',
    '-CAkey',
    'root.key',
  );
};

beforeAll(async () => {
  own = await startOwnServer();
  await makeCertificates();
  const [{ directory }] = (await ask(
    own.server.url,
    `select current_setting('data_directory') as directory`,
  )) as [{ directory: string }];
  // The server takes a key only from its own account.
  const { uid, gid } = await stat(directory);
  await chown(join(certificates, 'server.key'), uid, gid);
  await chmod(join(certificates, 'server.key'), 0o600);
  for (const [name, value] of [
    ['ssl_cert_file', join(certificates, 'server.crt')],
    ['ssl_key_file', join(certificates, 'server.key')],
    ['ssl', 'on'],
  ])
    await ask(own.server.url, `alter system set ${name} = '${value}'`);
  await ask(own.server.url, 'select pg_reload_conf()');
});
afterAll(async () => {
  await own.remove();
  await rm(certificates, { recursive: true, force: true });
});
afterEach(() => vi.unstubAllEnvs());

const isEncrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';

/** The URL of a server with other parameters; `{dir}` in them is where the certificates are. */
const urlWith = (server: string, query: string, host?: string): string => {
  const url = new URL(server);
  if (host !== undefined) url.hostname = host;
  return `${url.href}?${query.replace('{dir}', certificates)}`;
};

const encryptedOver = (url: string): Promise<boolean> =>
  withClient(addressFromUrl(url), async (client) => (await client.query(isEncrypted)).rows[0].ssl);

describe('a server with TLS', () => {
  it.each([
    { query: '', encrypted: false },
    { query: 'sslmode=disable', encrypted: false },
    { query: 'sslmode=allow', encrypted: true },
    { query: 'sslmode=prefer', encrypted: true },
    { query: 'sslmode=require', encrypted: true },
    { query: 'sslmode=no-verify', encrypted: true },
    { query: 'uselibpqcompat=true&sslmode=require', encrypted: true },
    { query: 'sslmode=require&sslrootcert={dir}/root.crt', encrypted: true },
    { query: 'sslmode=verify-ca&sslrootcert={dir}/root.crt', encrypted: true },
    { query: 'sslmode=verify-full&sslrootcert={dir}/root.crt', host: 'localhost', encrypted: true },
    { query: 'sslrootcert={dir}/root.crt', host: 'localhost', encrypted: true },
  ])('$query', async ({ query, host, encrypted }) => {
    const warn = vi.spyOn(process, 'emitWarning');
    expect(await encryptedOver(urlWith(own.server.url, query, host))).toBe(encrypted);
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    {
      query: 'sslmode=require&sslrootcert={dir}/other.crt',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      hint: /sslrootcert/,
    },
    {
      query: 'sslmode=verify-ca&sslrootcert={dir}/other.crt',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      hint: /sslrootcert/,
    },
    { query: 'sslmode=verify-full', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', hint: /sslrootcert/ },
    {
      query: 'sslmode=verify-full&sslrootcert={dir}/root.crt',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      hint: /by a name in the certificate/,
    },
  ])('refused: $query', async ({ query, code, hint }) => {
    expect(await failureOf(encryptedOver(urlWith(own.server.url, query)))).toMatchObject({
      code: 'ETL_CONNECT_TLS',
      exit: 1,
      hint: expect.stringMatching(hint),
      cause: { code },
    });
  });

  it('a run, its threads and its queue', async () => {
    const databaseUrl = urlWith(own.server.url, 'sslmode=verify-ca&sslrootcert={dir}/root.crt');
    const { outcome } = await runPipeline(noaa, { databaseUrl, directory: 'pipelines', workers: 2 });
    expect(outcome).toBe('published');
  });

  it('PGSSLMODE and PGSSLROOTCERT are for URLs that say nothing', async () => {
    vi.stubEnv('PGSSLMODE', 'verify-full');
    vi.stubEnv('PGSSLROOTCERT', join(certificates, 'root.crt'));
    expect(await encryptedOver(urlWith(own.server.url, '', 'localhost'))).toBe(true);
    expect(await encryptedOver(urlWith(own.server.url, 'sslmode=disable'))).toBe(false);
  });
});

describe('a server without TLS', () => {
  it.each(['sslmode=allow', 'sslmode=prefer'])('%s goes on without', async (query) =>
    expect(await encryptedOver(urlWith(inject('serverUrl'), query))).toBe(false),
  );

  it('sslmode=require is refused', async () => {
    expect(await failureOf(encryptedOver(urlWith(inject('serverUrl'), 'sslmode=require')))).toMatchObject({
      code: 'ETL_CONNECT_TLS',
      message: expect.stringMatching(/: the server has no TLS$/),
      hint: expect.stringMatching(/sslmode=prefer/),
    });
  });

  it('PGSSLMODE is not for the embedded server', async () => {
    vi.stubEnv('PGSSLMODE', 'require');
    const directory = await makeServerDirectory();
    const embedded = await openOwnServer(directory, { fsync: 'off' });
    try {
      const address = await resolveServer({ env: {}, etlDirectory: join(directory, '.etl') });
      const answer = await withClient(address, (client) => client.query('select 1 as one'));
      expect(answer.rows).toEqual([{ one: 1 }]);
    } finally {
      await embedded.remove();
    }
  });
});

describe('refused before anything is opened', () => {
  it.each([
    { query: 'sslmode=bogus', problem: /^sslmode: there is no mode 'bogus'; known: disable, allow, prefer/ },
    { query: 'sslmode=requir', problem: /did you mean require\?$/ },
    { query: 'sslmode=verify-ca', problem: /needs sslrootcert/ },
    { query: 'sslmode=verify-ca&sslrootcert=/nowhere.crt', problem: /nowhere\.crt cannot be read/ },
  ])('$query', ({ query, problem }) => {
    expect(() => addressFromUrl(`postgres://me:sesame@db.example.com/weather?${query}`)).toThrow(
      expect.objectContaining({ code: 'ETL_USAGE', message: expect.stringMatching(problem) }),
    );
  });

  it('PGSSLMODE', () => {
    vi.stubEnv('PGSSLMODE', 'bogus');
    expect(() => addressFromUrl('postgres://db.example.com/weather')).toThrow(
      /^PGSSLMODE: there is no mode 'bogus'/,
    );
  });
});
