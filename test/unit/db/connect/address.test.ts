// Addresses: where a server is found, what is refused, and what is never printed.

import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { addressFromUrl, namesServer, resolveServer } from '../../../../src/db/connect/address.ts';
import { readConnectionString } from '../../../../src/db/connect/connection-string.ts';
import { refusalOf } from '../../../helpers/failure.ts';
import { useFiles } from '../../../helpers/files.ts';

const { write, directory } = useFiles();

describe('a connection string', () => {
  it.each([
    ['postgres://me:sesame@db.example.com:6543/weather', 'me@db.example.com:6543/weather'],
    ['postgresql://me@db/weather', 'me@db:5432/weather'],
    ['postgres://me@[2001:db8::1]:6543/weather', 'me@2001:db8::1:6543/weather'],
    ['postgres://me@%2Fvar%2Frun/weather', 'me@/var/run:5432/weather'],
    ['postgres:///weather?host=/var/run&user=me', 'me@/var/run:5432/weather'],
    ['postgres://me@a:1,b:2/weather', 'me@a:1,b:2/weather'],
    ['postgres://me@a,b/weather?port=6543', 'me@a:6543,b:6543/weather'],
    ['postgres://me@a,b:2/weather', 'me@a:5432,b:2/weather'],
    ['postgres://me@a/weather?hostaddr=127.0.0.1', 'me@a:5432/weather'],
    ['postgres://me@/weather?hostaddr=127.0.0.1', 'me@127.0.0.1:5432/weather'],
    ['postgres://me%40tenant@db/we%2Father?sslmode=', 'me@tenant@db:5432/we/ather'],
    ['postgres://db/weather?user=me@tenant', 'me@tenant@db:5432/weather'],
    ['  postgres://me:a:b@db/weather\n', 'me@db:5432/weather'],
    ['postgres://', `${userInfo().username}@localhost:5432/${userInfo().username}`],
    ['host=a,b port=1,2 user=me dbname=weather', 'me@a:1,b:2/weather'],
    [`host = db user='it''s'`.replaceAll("''", "\\'"), `it's@db:5432/it's`],
    [String.raw`host=db user=a\ b password='x y' dbname='c\\d'`, String.raw`a b@db:5432/c\d`],
  ])('%j is %s', (text, label) => expect(addressFromUrl(text, {}).label).toBe(label));

  it('is decoded as libpq does, except for blanks in options, which JavaScript writes as +', () => {
    const url = 'postgres://a%2Bb:c%3A+%23@db/?application_name=x+y&options=-c+work_mem%3D5MB&ssl=true';
    expect(readConnectionString(url)).toEqual({
      user: 'a+b',
      password: 'c:+#',
      host: 'db',
      application_name: 'x+y',
      options: '-c work_mem=5MB',
      sslmode: 'verify-full',
    });
  });

  it.each([
    ['', /is empty/],
    ['mysql://x?a=b', /does not begin with postgres:/],
    ['db.example.com', /does not begin with postgres:/],
    ['postgres://db/x?sslmod=require', /unknown parameter `sslmod`; did you mean `sslmode`\?$/],
    ['postgres://db/x?schema=public', /unknown parameter `schema`/],
    ['host=db hostt=x', /unknown parameter `hostt`; did you mean `host`\?$/],
    ['postgres://db/x?sslmode=requir', /sslmode: there is no value 'requir'; did you mean `require`\?$/],
    ['postgres://db/x?target_session_attrs=master', /target_session_attrs: there is no value 'master'/],
    [
      'postgres://db/x?gssencmode=require',
      /gssencmode: only 'disable', 'prefer' are supported: there is no GSSAPI/,
    ],
    ['postgres://db/x?requirepeer=postgres', /requirepeer: it is not supported: Node does not say/],
    ['postgres://db/x?load_balance_hosts=random', /load_balance_hosts: only 'disable' is supported/],
    ['postgres://db/x?sslnegotiation=direct', /sslnegotiation=direct needs sslmode=require/],
    ['postgres://db/x?sslnegotiation=direct&sslmode=prefer', /sslnegotiation=direct needs sslmode=require/],
    ['postgres://db/x?require_auth=scram', /require_auth must be a list of none, password, md5/],
    ['postgres://db/x?require_auth=md5,!none', /cannot be mixed/],
    ['postgres://db/x?connect_timeout=soon', /connect_timeout: it must be a number/],
    ['postgres://db/x?hostaddr=db', /hostaddr must be an IP address/],
    ['postgres://a,b/x?hostaddr=127.0.0.1', /there are 2 hosts, but 1 addresses/],
    ['postgres://a,b,c/x?port=1,2', /there are 2 ports for 3 hosts/],
    ['postgres://db:70000/x', /the database URL: port: it must be a number from 1 to 65535/],
    ['postgres://db/x?sslmode', /has no value/],
    ["host='db", /cannot be read from its parameter 1 on/],
    ['host=db oops', /cannot be read from its parameter 2 on/],
  ])('%j is refused', (text, message) =>
    expect(refusalOf(() => addressFromUrl(text, {}))).toMatchObject({
      code: 'ETL_USAGE',
      exit: 2,
      message: expect.stringMatching(message),
    }),
  );

  it.each(['zq@qz', 'zq/qz', 'zq#qz', 'zq?qz', 'zq%qz', 'zq qz', 'zq@q/qz', 'zq/q@qz', '12/qz', '12?qz=zq'])(
    'a password that is not percent-encoded is recognised and not repeated: %s',
    (password) => {
      for (const rest of ['db.example.com:5432/weather', 'db/weather?sslmode=require', 'a,b']) {
        const error = refusalOf(() => addressFromUrl(`postgres://me:${password}@${rest}`, {}));
        expect(error).toMatchObject({ code: 'ETL_USAGE', hint: expect.stringMatching(/^Percent-encode/) });
        expect(JSON.stringify(error) + error.message).not.toMatch(/zq|qz|q@/);
      }
    },
  );

  it.each(['postgres://me:zqqz@[bad/x', 'postgres://me:zqqz/x', 'password=zq qz', "password='zq'qz"])(
    'that cannot be read is not repeated: %s',
    (text) => {
      const error = refusalOf(() => addressFromUrl(text, {}));
      expect(JSON.stringify(error) + error.message).not.toMatch(/zq|qz/);
    },
  );
});

describe('the environment', () => {
  it.each([
    [{}, false],
    [{ DATABASE_URL: '' }, false],
    [{ DATABASE_URL: 'postgres://x' }, true],
    [{ PGHOST: 'x' }, true],
    [{ PGHOSTADDR: '127.0.0.1' }, true],
    [{ PGSERVICE: 'x' }, true],
    [{ PGSSLMODE: 'require' }, false],
  ])('%j names a server: %s', (env, expected) => expect(namesServer(env)).toBe(expected));

  it('gives what a connection string leaves out, as in psql', () => {
    const env = { PGHOST: 'a,b', PGPORT: '1,2', PGUSER: 'me', PGSSLMODE: 'require', PGREQUIREAUTH: 'md5' };
    expect(addressFromUrl('postgres:///weather?sslmode=disable', env).config).toMatchObject({
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      user: 'me',
      parameters: { sslmode: 'disable', require_auth: 'md5' },
    });
  });

  it.each([
    { variable: 'PGTARGETSESSIONATTRS', value: 'master' },
    { variable: 'PGSSLMODE', value: 'requir' },
    { variable: 'PGGSSENCMODE', value: 'require' },
    { variable: 'PGSSLCERTMODE', value: 'require' },
    { variable: 'PGREQUIREPEER', value: 'postgres' },
    { variable: 'PGPORT', value: 'abc' },
    { variable: 'PGPORT', value: '5432,0' },
  ])('$variable=$value is refused', ({ variable, value }) =>
    expect(refusalOf(() => addressFromUrl('postgres://db', { [variable]: value }))).toMatchObject({
      code: 'ETL_ENVIRONMENT',
      details: { variable },
    }),
  );

  it('variables that change neither where nor how securely we connect are left alone', () => {
    const env = { PGCLIENTENCODING: 'LATIN1', PGKRBSRVNAME: 'x', PGAPPNAME: 'x', PGSSLCOMPRESSION: '1' };
    expect(addressFromUrl('postgres://me@db', env).config.parameters).toEqual({ host: 'db' });
  });
});

describe('a service', () => {
  const file = write(
    'pg_service.conf',
    [
      '# ours',
      '[weather]',
      'host=db.example.com',
      'port = 6543',
      'user=me',
      'password=a&b=c',
      'dbname=noaa',
      'dbname=second',
      '',
      '[typo]',
      'hots=elsewhere',
      '[nested]',
      'service=weather',
      '[broken]',
      'ldap://ldap.example.com',
    ].join('\n'),
  );

  it.each([
    ['service=weather', { PGSERVICEFILE: file }, 'me@db.example.com:6543/noaa'],
    ['postgres://?service=weather', { PGSERVICEFILE: file }, 'me@db.example.com:6543/noaa'],
    ['postgres://you@/other?service=weather', { PGSERVICEFILE: file }, 'you@db.example.com:6543/other'],
    [
      'postgres://',
      { PGSERVICEFILE: file, PGSERVICE: 'weather', PGUSER: 'x' },
      'me@db.example.com:6543/noaa',
    ],
    ['service=weather', { PGSYSCONFDIR: directory, HOME: '/nowhere' }, 'me@db.example.com:6543/noaa'],
  ])('%s with %j is %s', (text, env, label) => {
    const address = addressFromUrl(text, env);
    expect(address.label).toBe(label);
    expect(address.config.parameters.password).toBe('a&b=c');
  });

  it.each([
    ['nope', { PGSERVICEFILE: file }, /there is no service "nope" in .*pg_service\.conf/],
    ['weather', { PGSERVICEFILE: '/nowhere' }, /the service file \/nowhere cannot be read/],
    ['typo', { PGSERVICEFILE: file }, /service typo in .*: unknown parameter `hots`; did you mean `host`/],
    ['nested', { PGSERVICEFILE: file }, /a service cannot name another one/],
    ['broken', { PGSERVICEFILE: file }, /line 15 is not of the form name=value/],
  ])('%s is refused', (service, env, message) =>
    expect(refusalOf(() => addressFromUrl(`service=${service}`, env))).toMatchObject({
      code: 'ETL_USAGE',
      message: expect.stringMatching(message),
    }),
  );
});

describe('settings from JavaScript', () => {
  const resolve = (connection: unknown, env: NodeJS.ProcessEnv = {}) =>
    resolveServer({ connection: connection as object, env, etlDirectory: '/nowhere' });
  class Pool {
    readonly options = { host: 'db' };
    connect(): void {}
  }

  it.each([
    [{ host: 'db', user: 'me' }, 'me@db:5432/me'],
    [
      { host: 'a,b', port: '6543', user: 'me', database: 'x', max: 5, statement_timeout: 1 },
      'me@a:6543,b:6543/x',
    ],
    [{ connectionString: 'postgres://me@db/x', host: 'other' }, 'me@db:5432/x'],
  ])('%j are %s', async (connection, label) => expect((await resolve(connection)).label).toBe(label));

  it('may leave the host to the environment', async () =>
    expect((await resolve({ user: 'me' }, { PGHOST: 'db' })).label).toBe('me@db:5432/me'));

  it('a complete configuration is passed on as it is', async () => {
    const address = addressFromUrl('postgres://me@db/x', {});
    expect(await resolve(address.config, { PGSSLMODE: 'require' })).toBe(address);
  });

  it.each([
    [{}, /names no host/],
    [{ host: undefined, user: 'me' }, /names no host/],
    [{ connectionString: undefined }, /names no host/],
    [{ hostt: 'db' }, /unknown setting `hostt`; did you mean `host`\?/],
    [{ url: 'postgres://db' }, /unknown setting `url`; known: connectionString, host/],
    [{ host: '' }, /`host` must be a text that is not empty/],
    [{ host: 5 }, /`host` must be a text/],
    [{ host: 'db', port: Number.NaN }, /`port` must be a port number/],
    [{ host: 'db', ssl: 'require' }, /`ssl` must be true, false or options/],
    [{ host: 'db', types: {} }, /unknown setting `types`/],
    [{ connectionString: '' }, /`connectionString` must be a text/],
    [new Pool(), /takes settings, not a pool or a client/],
    [['db'], /not an object of a class/],
  ])('%j are refused', async (connection, message) => {
    const error = await resolve(connection).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ETL_USAGE', message: expect.stringMatching(message) });
  });

  it("databaseUrl: '' is refused, although DATABASE_URL is set", async () => {
    const env = { DATABASE_URL: 'postgres://db' };
    const error = await resolveServer({ databaseUrl: '', env, etlDirectory: '/nowhere' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'ETL_USAGE', message: 'the database URL is empty' });
  });
});

it.each([
  [{ NODE_ENV: 'production' }, 'ETL_EMBEDDED_REFUSED', /NODE_ENV=production/],
  [{ ETL_EMBEDDED: 'never' }, 'ETL_EMBEDDED_REFUSED', /ETL_EMBEDDED=never/],
  [{ ETL_EMBEDDED: 'nevr' }, 'ETL_ENVIRONMENT', /ETL_EMBEDDED/],
])('the embedded server is refused %j', async (env, code, message) => {
  const error = await resolveServer({ env, etlDirectory: '/nowhere' }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code, exit: 2, message: expect.stringMatching(message) });
});
