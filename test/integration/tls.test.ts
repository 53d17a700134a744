// sslmode and what belongs to it as libpq means them, on a server with TLS and on one without; and what the server may ask for.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { chown, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import noaa from '../../pipelines/noaa.ts';
import { addressFromUrl, resolveServer } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { main } from '../../src/cli/main.ts';
import { runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { serverMajor } from '../helpers/major-server.ts';
import {
  ask,
  makeServerDirectory,
  openOwnServer,
  startOwnServer,
  type OwnServer,
} from '../helpers/own-server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

let own: OwnServer;
let certificates: string;

const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { cwd: certificates, stdio: 'pipe' });

/** An authority, a server certificate of it for localhost, and another authority, which signed only the client's. */
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
  const client = ['-out', 'client.crt', '-subj', '/CN=loader', '-CA', 'other.crt', '-CAkey', 'other.key'];
  openssl(...fresh.filter((word) => word !== '-nodes'), 'client.key', '-passout', 'pass:sesame', ...client);
  // An authority's list of the certificates that it has revoked: with none, and with the server's.
  await writeFile(join(certificates, 'index'), '');
  await writeFile(
    join(certificates, 'ca.cnf'),
    '[ca]\ndefault_ca=own\n[own]\ndatabase=index\ndefault_md=sha256\ndefault_crl_days=2\n',
  );
  const authority = ['ca', '-config', 'ca.cnf', '-keyfile', 'root.key', '-cert', 'root.crt'];
  openssl(...authority, '-gencrl', '-out', 'none.crl');
  openssl(...authority, '-revoke', 'server.crt');
  openssl(...authority, '-gencrl', '-out', 'server.crl');
};

/** Users by the way in which the server has them prove who they are. */
const users = ['password', 'md5', 'trust', 'scram'] as const;
const secret = 'sesame';

const addUsers = async (): Promise<void> => {
  const { url, directory } = own.server;
  const { uid, gid } = await stat(directory);
  const file = join(directory, 'pg_hba.conf');
  const lines = users.map(
    (user) => `host all ${user} 127.0.0.1/32 ${user === 'scram' ? 'scram-sha-256' : user}\n`,
  );
  await writeFile(file, lines.join('') + (await readFile(file, 'utf8')));
  await chown(file, uid, gid);
  for (const user of users)
    await ask(
      url,
      `set password_encryption = '${user === 'md5' ? 'md5' : 'scram-sha-256'}'; create role ${user} login password '${secret}'`,
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
    // Clients have an authority of their own: with that of the server, it would send that one along.
    ['ssl_ca_file', join(certificates, 'other.crt')],
    ['ssl', 'on'],
  ])
    await ask(own.server.url, `alter system set ${name} = '${value}'`);
  await addUsers();
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
  return `${url.href}?${query.replaceAll('{dir}', certificates)}`;
};

const encryptedOver = (url: string): Promise<boolean> =>
  withClient(addressFromUrl(url), async (client) => (await client.query(isEncrypted)).rows[0].ssl);

const shownOver = (url: string, column: string): Promise<string | null> =>
  withClient(addressFromUrl(url), async (client) => {
    const select = `select ${column} as shown from pg_stat_ssl where pid = pg_backend_pid()`;
    return (await client.query(select)).rows[0].shown;
  });

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
    {
      query: 'sslmode=verify-full&sslrootcert={dir}/root.crt&hostaddr=127.0.0.1',
      host: 'localhost',
      encrypted: true,
    },
    { query: 'sslmode=verify-ca&sslrootcert={dir}/root.crt&sslcrl={dir}/none.crl', encrypted: true },
    ...(serverMajor < 17 ? [] : [{ query: 'sslmode=require&sslnegotiation=direct', encrypted: true }]),
    { query: 'sslmode=require&sslnegotiation=postgres&sslsni=1&sslcompression=0', encrypted: true },
    { query: 'requiressl=1', encrypted: true },
    { query: 'ssl=true&sslrootcert={dir}/root.crt', host: 'localhost', encrypted: true },
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
    { query: 'ssl=true', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', hint: /sslrootcert/ },
    {
      query: 'sslmode=verify-ca&sslrootcert={dir}/root.crt&sslcrl={dir}/server.crl',
      code: 'CERT_REVOKED',
      hint: /revoked/,
    },
  ])('refused: $query', async ({ query, code, hint }) => {
    expect(await failureOf(encryptedOver(urlWith(own.server.url, query)))).toMatchObject({
      code: 'ETL_CONNECT_TLS',
      exit: 1,
      hint: expect.stringMatching(hint),
      cause: { code },
    });
  });

  it.each([
    { query: 'ssl_min_protocol_version=TLSv1.3', version: 'TLSv1.3' },
    { query: 'ssl_max_protocol_version=TLSv1.2', version: 'TLSv1.2' },
  ])('$query: $version', async ({ query, version }) => {
    const url = urlWith(own.server.url, `sslmode=require&${query}`);
    expect(await shownOver(url, 'version')).toBe(version);
  });

  const client = 'sslcert={dir}/client.crt&sslkey={dir}/client.key&sslpassword=sesame';
  it.each([
    { query: client, shown: '/CN=loader' },
    { query: `${client}&sslcertmode=allow`, shown: '/CN=loader' },
    { query: `${client}&sslcertmode=disable`, shown: null },
  ])('the certificate of the client: $query', async ({ query, shown }) => {
    expect(await shownOver(urlWith(own.server.url, `sslmode=require&${query}`), 'client_dn')).toBe(shown);
  });

  it('a run, its loaders and its queue', async () => {
    const databaseUrl = urlWith(own.server.url, 'sslmode=verify-ca&sslrootcert={dir}/root.crt');
    const { outcome } = await runPipeline(noaa, {
      databaseUrl,
      directory: 'pipelines',
      workers: 2,
      // Chunks of this size need the queue, and a connection for each worker.
      chunkBytes: 64 * 1024,
    });
    expect(outcome).toBe('published');
  });

  it('PGSSLMODE and PGSSLROOTCERT are for URLs that say nothing', async () => {
    vi.stubEnv('PGSSLMODE', 'verify-full');
    vi.stubEnv('PGSSLROOTCERT', join(certificates, 'root.crt'));
    expect(await encryptedOver(urlWith(own.server.url, '', 'localhost'))).toBe(true);
    expect(await encryptedOver(urlWith(own.server.url, 'sslmode=disable'))).toBe(false);
  });
});

describe('what the server may ask for', () => {
  const loginAs = (user: string, query: string): Promise<string> => {
    const url = new URL(own.server.url);
    Object.assign(url, { username: user, password: secret });
    return withClient(addressFromUrl(`${url.href}?${query}`, {}), async (client) => {
      const { rows } = await client.query('select session_user as name');
      return rows[0].name;
    });
  };

  it.each([
    { user: 'scram', query: 'require_auth=scram-sha-256' },
    { user: 'scram', query: 'require_auth=password,scram-sha-256' },
    { user: 'scram', query: 'require_auth=!password,!md5,!none' },
    { user: 'scram', query: 'channel_binding=require&sslmode=require' },
    { user: 'scram', query: 'channel_binding=prefer&sslmode=require' },
    { user: 'scram', query: 'channel_binding=prefer' },
    { user: 'scram', query: 'channel_binding=disable&sslmode=require' },
    { user: 'password', query: 'require_auth=password' },
    { user: 'password', query: 'channel_binding=prefer&sslmode=require' },
    { user: 'md5', query: 'require_auth=md5' },
    { user: 'trust', query: 'require_auth=none' },
    { user: 'trust', query: '' },
  ])('$user is let in with $query', async ({ user, query }) => {
    expect(await loginAs(user, query)).toBe(user);
  });

  it.each([
    { user: 'scram', query: 'require_auth=password', asks: 'scram-sha-256' },
    { user: 'scram', query: 'require_auth=none', asks: 'scram-sha-256' },
    { user: 'scram', query: 'require_auth=!scram-sha-256', asks: 'scram-sha-256' },
    { user: 'password', query: 'require_auth=scram-sha-256', asks: 'password' },
    { user: 'md5', query: 'require_auth=scram-sha-256', asks: 'md5' },
    { user: 'trust', query: 'require_auth=scram-sha-256', asks: 'none' },
    { user: 'trust', query: 'require_auth=!none', asks: 'none' },
  ])('$query refuses a server that asks $user for $asks', async ({ user, query, asks }) => {
    expect(await failureOf(loginAs(user, query))).toMatchObject({
      code: 'ETL_CONNECT',
      message: expect.stringContaining(`it asks for authentication by ${asks}, and require_auth is`),
      hint: expect.stringMatching(/^No password was sent\. Correct require_auth/),
    });
  });

  it.each([
    { user: 'scram', query: 'channel_binding=require' },
    { user: 'password', query: 'channel_binding=require&sslmode=require' },
    { user: 'md5', query: 'channel_binding=require&sslmode=require' },
    { user: 'trust', query: 'channel_binding=require&sslmode=require' },
  ])('$query refuses a server that does not bind for $user', async ({ user, query }) => {
    expect(await failureOf(loginAs(user, query))).toMatchObject({
      code: 'ETL_CONNECT',
      message: expect.stringContaining('it does not bind the authentication to the encrypted channel'),
    });
  });

  it.each(['ask for the password in clear text', 'end SCRAM half-way'])(
    'a server that would %s gets no password and no session',
    async (what) => {
      const heard: Buffer[] = [];
      const message = (code: number, rest = ''): Buffer => {
        const body = Buffer.alloc(4);
        body.writeInt32BE(code);
        const head = Buffer.from('R\0\0\0\0', 'latin1');
        head.writeInt32BE(8 + rest.length, 1);
        return Buffer.concat([head, body, Buffer.from(rest, 'latin1')]);
      };
      const answers = what.startsWith('ask')
        ? [message(3), message(0)]
        : [message(10, 'SCRAM-SHA-256\0\0'), message(0)];
      const thief = createServer((socket) => {
        socket
          .on('error', () => undefined)
          .on('data', (bytes) => {
            heard.push(bytes);
            socket.write(answers.shift() ?? '');
          });
      }).listen(0, '127.0.0.1');
      await once(thief, 'listening');
      const { port } = thief.address() as AddressInfo;
      const url = `postgres://scram:${secret}@127.0.0.1:${port}/etl?require_auth=scram-sha-256`;
      expect(await failureOf(withClient(addressFromUrl(url, {}), () => Promise.resolve()))).toMatchObject({
        code: 'ETL_CONNECT',
        cause: { code: 'AUTHENTICATION_REFUSED' },
      });
      expect(heard.length).toBeGreaterThan(0);
      expect(Buffer.concat(heard).toString('latin1')).not.toContain(secret);
      thief.close();
    },
  );
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

  it('variables for other servers are not for the embedded one', async () => {
    const others = {
      PGSSLMODE: 'require',
      PGTARGETSESSIONATTRS: 'standby',
      PGOPTIONS: '-c no_such_setting=1',
    };
    for (const [name, value] of Object.entries(others)) vi.stubEnv(name, value);
    const directory = await makeServerDirectory();
    const embedded = await openOwnServer(directory, { fsync: 'off' });
    try {
      const address = await resolveServer({ env: others, etlDirectory: join(directory, '.etl') });
      const answer = await withClient(address, (client) => client.query('select 1 as one'));
      expect(answer.rows).toEqual([{ one: 1 }]);
    } finally {
      await embedded.remove();
    }
  });
});

describe('refused before anything is opened', () => {
  it.each([
    {
      query: 'sslmode=bogus',
      problem: /: sslmode: there is no value 'bogus'; known: disable, allow, prefer/,
    },
    { query: 'sslmode=requir', problem: /did you mean `require`\?$/ },
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
      /PGSSLMODE: there is no value 'bogus'/,
    );
  });
});

it('a server without TLS that must have it is one error, not also one of recording it', async () => {
  const env = { DATABASE_URL: `${inject('serverUrl')}?sslmode=require` };
  const io = fakeIo({ env, workingDirectory: process.cwd() });
  expect(await main(['run', 'pipelines/noaa.ts'], io)).toBe(1);
  const about = io.stderr.text.split('\n').filter((line) => line.includes('the server has no TLS'));
  expect(about).toEqual([expect.stringMatching(/^error ETL_CONNECT_TLS: /)]);
});
