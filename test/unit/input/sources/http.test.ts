// Failures between a URL and its bytes: each gives one clear error, or is tried again.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { EtlError } from '../../../../src/index.ts';
import { http } from '../../../../src/input/sources/http/http.ts';
import { isPrivate } from '../../../../src/input/sources/http/addresses.ts';
import { retryAfterMs } from '../../../../src/input/sources/http/answer.ts';
import { expandBraces, urlProblem, withoutSecrets } from '../../../../src/input/sources/http/url.ts';
import { failureOf } from '../../../helpers/failure.ts';
import { useHttpFiles } from '../../../helpers/http-files.ts';
import { runTypeScript } from '../../../helpers/run-typescript.ts';
import { accessWith } from '../../../helpers/source-access.ts';
import { words } from '../../../helpers/words.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-http-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const certificate = () => {
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const fresh = words('req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key -out cert');
  execFileSync('openssl', [...fresh, ...names], { cwd: directory, stdio: 'pipe' });
  return { key: readFileSync(join(directory, 'key')), cert: readFileSync(join(directory, 'cert')) };
};

const server = useHttpFiles();
const encrypted = useHttpFiles(certificate);
afterEach(() => {
  server.trouble = undefined;
  encrypted.trouble = undefined;
  server.requests.length = 0;
  vi.unstubAllEnvs();
});

type Options = Parameters<typeof accessWith>[0];

/** Does not repeat failed requests, so that tests are short. */
const impatient = { allowPrivate: true, timeouts: { retryMs: 0 } };

const look = (location: string, options: Options = impatient, declared: readonly string[] = [location]) => {
  const { declared: none, ...rest } = accessWith(options);
  return http.look(
    { location, name: location, table: 't' },
    { ...rest, declared: { ...none, locations: declared } },
  );
};

const answer = (status: number, headers: OutgoingHttpHeaders = {}, body = '') => {
  server.trouble = (_, response: ServerResponse) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
  return look(server.url('/a.csv'));
};

const content = Buffer.from('a,b\n'.repeat(100_000));

describe('an answer that is no file', () => {
  it.each([
    { status: 401, code: 'ETL_SOURCE_DENIED', hint: 'bearer' },
    { status: 403, code: 'ETL_SOURCE_DENIED', hint: 'signed URL may have expired' },
    { status: 404, code: 'ETL_SOURCE_GONE', hint: 'Check the URL' },
    { status: 410, code: 'ETL_SOURCE_GONE', hint: 'Check the URL' },
    { status: 400, code: 'ETL_SOURCE_ADDRESS', hint: 'signed URL may have expired' },
    { status: 418, code: 'ETL_SOURCE_ADDRESS', hint: 'curl -v' },
    { status: 501, code: 'ETL_SOURCE_ADDRESS', hint: 'curl -v' },
    { status: 429, code: 'ETL_SOURCE_UNREACHABLE', hint: 'Run again later' },
    { status: 503, code: 'ETL_SOURCE_UNREACHABLE', hint: 'Run again later' },
  ])('of $status is $code', async ({ status, code, hint }) => {
    const error = await failureOf(answer(status));
    expect(error).toMatchObject({ code, details: { table: 't', file: server.url('/a.csv') } });
    expect(error.message).toContain(`${status}`);
    expect(error.hint).toContain(hint);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    {
      name: 'a web page',
      headers: { 'content-type': 'text/html' },
      body: '\n<!doctype html>',
      problem: 'is a web page',
    },
    {
      name: 'in an encoding nobody asked for',
      headers: { 'content-encoding': 'br' },
      body: 'x',
      problem: 'content encoding br',
    },
  ])('$name is refused', async ({ headers, body, problem }) => {
    const error = await failureOf(answer(200, headers, body));
    expect(error.code).toBe('ETL_SOURCE_FORMAT');
    expect(error.message).toContain(problem);
  });

  it('a file that is only called a web page, or has no byte, is one', async () => {
    expect(await answer(200, { 'content-type': 'text/html' }, 'a,b\n')).toMatchObject({
      head: Buffer.from('a,b\n'),
    });
    expect(await answer(200)).toMatchObject({ bytes: 0, head: Buffer.alloc(0) });
  });
});

describe('a connection that is not made', () => {
  const addressError = async (location: string, options?: Options): Promise<EtlError> => {
    const error = await failureOf(look(location, options));
    expect(error).toMatchObject({ code: 'ETL_SOURCE_ADDRESS', details: { table: 't' } });
    return error;
  };

  it('because nobody has the name, or nothing listens there', async () => {
    const wrong = await failureOf(look('http://nobody.invalid/a.csv'));
    // Without a network, the name cannot be resolved, which counts as unreachable.
    expect(['ETL_SOURCE_ADDRESS', 'ETL_SOURCE_UNREACHABLE']).toContain(wrong.code);
    expect(wrong.message).toContain('nobody.invalid');
    vi.stubEnv('HTTPS_PROXY', 'http://proxy.example');
    const refused = await failureOf(look('http://127.0.0.1:1/a.csv'));
    expect(refused).toMatchObject({ code: 'ETL_SOURCE_UNREACHABLE' });
    expect(refused.message).toContain(
      'nothing listens at 127.0.0.1. HTTPS_PROXY is set, but sluice uses no proxy',
    );
  });

  it('because the certificate is not trusted', async () => {
    const error = await addressError(encrypted.url('/a.csv'));
    expect(error.message).toContain('is not trusted: self-signed certificate');
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('because the server speaks another protocol than the URL says', async () => {
    const noTls = await addressError(server.url('/a.csv').replace('http:', 'https:'));
    expect(noTls.message).toMatch(/no encrypted connection to 127\.0\.0\.1: wrong version number$/);
    expect(noTls.hint).toContain('http://');
    server.trouble = ({ socket }) => socket.end('220 ready\r\n') !== undefined;
    const noHttp = await failureOf(look(server.url('/a.csv')));
    expect(noHttp).toMatchObject({ code: 'ETL_SOURCE_UNREACHABLE' });
    expect(noHttp.message).toContain('what answers is not HTTP; check scheme and port of the URL');
  });

  it('though it is, once its authority is named in NODE_EXTRA_CA_CERTS', async () => {
    const url = encrypted.put('/b.csv', 'a,b\n');
    const program = fileURLToPath(new URL('../../../helpers/look-at-url.ts', import.meta.url));
    const env = { NODE_EXTRA_CA_CERTS: join(directory, 'cert') };
    const lookAt = (location: string) => runTypeScript(program, [location], { cwd: directory, env });
    // Another address of the same server, which its certificate does not name.
    const otherHost = url.replace('127.0.0.1', '[::ffff:127.0.0.1]');
    const [good, wrong] = await Promise.all([lookAt(url), lookAt(otherHost)]);
    expect(good).toEqual({ exit: 0, out: 'a,b\n', err: '' });
    expect(wrong.err).toMatch(
      /the connection to \[::ffff:7f00:1\] is not trusted: Hostname\/IP does not match/,
    );
  });

  it('because a token cannot be sent', async () => {
    vi.stubEnv('HTTP_TEST_TOKEN', 'secret\nvalue');
    const error = await addressError(server.url('/a.csv'), {
      ...impatient,
      bearer: { kind: 'env', name: 'HTTP_TEST_TOKEN' },
    });
    expect(JSON.stringify([error.message, error.hint, error.details, String(error.cause)])).not.toContain(
      'secret',
    );
  });

  it.each(
    words(`
    http://127.0.0.1:1/a http://localhost:1/a http://[::1]/a http://2130706433/a
    http://[::ffff:7f00:1]/a`),
  )('because %s is private', async (location) => {
    const error = await addressError(location, { timeouts: { retryMs: 0 } });
    expect(error.message).toContain('private address');
    expect(error.hint).toContain('allowPrivate');
  });

  it.each(
    words(`
    10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 ::1 :: fd00::1 fe80::1
    ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 2002:7f00:1::`),
  )('%s is a private address', (address) => expect(isPrivate(address)).toBe(true));

  it.each(words('93.184.216.34 172.32.0.1 2606:2800:220:1::1 64:ff9b::5db8:d822 ::ffff:93.184.216.34'))(
    '%s is a public address',
    (address) => expect(isPrivate(address)).toBe(false),
  );
});

it.each([
  ['before its answer', { headersMs: 50 }, 'no answer within 0.05 s', false],
  ['in the middle of it', { idleMs: 50 }, 'nothing more came within 0.05 s', true],
  ['in the middle of a long one', { idleMs: 50 }, 'nothing more came within 0.05 s', true, 100_000_000],
])('a server that is silent %s is left', async (_, timeouts, problem, begins, bytes = 100) => {
  const location = server.url('/a.csv');
  const options = { allowPrivate: true, timeouts: { retryMs: 0, ...timeouts } };
  server.trouble = (_request, response) => {
    if (begins) response.writeHead(200, { 'content-length': bytes, etag: '"a"' }).write('a');
    return true;
  };
  const fingerprint = JSON.stringify({ bytes, etag: '"a"' });
  const file = { location, name: location, table: 't', bytes, fingerprint };
  const opened = http.open(file, accessWith(options), 0, Infinity)[Symbol.asyncIterator]();
  const error = await failureOf(bytes === 100 ? look(location, options) : opened.next());
  expect(error).toMatchObject({ code: 'ETL_SOURCE_UNREACHABLE' });
  expect(error.message).toContain(problem);
  await expect.poll(server.busy).toBe(0);
});

const patient = { allowPrivate: true };

it('a download that comes faster than it is read waits in memory that nothing else is read into, in blocks of a bounded size', async () => {
  const bytes = randomBytes(12 * 1024 * 1024);
  const location = server.put('/fast.csv', { bytes });
  const { head: _, ...state } = await look(location, patient);
  const blocks: Buffer[] = [];
  let last: Buffer = Buffer.alloc(0);
  const file = { location, name: location, table: 't', ...state };
  for await (const block of http.open(file, accessWith(patient), 0, Infinity)) {
    // Lets more bytes come, which would overwrite blocks that are reused too early.
    if (blocks.length % 8 === 0) await sleep(20);
    // Copied late: a block must stay valid until the second block after it is requested.
    blocks.push(Buffer.from(last));
    last = block;
  }
  blocks.push(last);
  expect(Buffer.concat(blocks).equals(bytes)).toBe(true);
  expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThanOrEqual(1024 * 1024);
});

describe('a failure that passes', () => {
  it('is tried again, after the time that the server names', async () => {
    const url = server.put('/busy.csv', 'a,b\n');
    const answers = [
      [503, {}],
      [429, { 'retry-after': '0' }],
    ] as const;
    server.trouble = (_, response) => {
      const next = answers[server.requests.length - 1];
      if (next !== undefined) response.writeHead(next[0], next[1]).end();
      return next !== undefined;
    };
    expect((await look(url, patient)).head.toString()).toBe('a,b\n');
    expect(server.requests).toHaveLength(3);
    expect(retryAfterMs('2')).toBe(2000);
    expect(retryAfterMs(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50_000);
    expect([
      retryAfterMs('soon'),
      retryAfterMs(undefined),
      retryAfterMs('Thu, 01 Jan 1970 00:00:00 GMT'),
    ]).toEqual([undefined, undefined, 0]);
  });

  it('is not waited for longer than allowed', async () => {
    server.trouble = (_, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return true;
    };
    expect(await failureOf(look(server.url('/a.csv'), patient))).toMatchObject({
      code: 'ETL_SOURCE_UNREACHABLE',
      details: { tries: 1 },
    });
  });

  const read = async (location: string, cuts: number[]): Promise<Buffer> => {
    const { head: _, ...state } = await look(location, patient);
    server.cuts = cuts;
    const pieces: Buffer[] = [];
    const file = { location, name: location, table: 't', ...state };
    for await (const piece of http.open(file, accessWith(patient), 0, Infinity))
      pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  };

  it.each([
    { name: 'with an ETag', serving: {}, ranges: ['bytes=200000-', 'bytes=200001-'] },
    {
      name: 'with a date',
      serving: { etag: null, modified: 'Tue, 15 Nov 1994 12:45:26 GMT' },
      ranges: ['bytes=200000-', 'bytes=200001-'],
    },
    { name: 'without a version', serving: { etag: null }, ranges: [undefined, undefined] },
    { name: 'without ranges', serving: { ranges: false }, ranges: ['bytes=200000-', 'bytes=200000-'] },
    { name: 'of no known length', serving: { length: false }, ranges: ['bytes=200000-', 'bytes=200001-'] },
  ])('in the middle of a file $name does not show', async ({ serving, ranges }) => {
    const url = server.put('/cut.csv', { bytes: content, ...serving });
    expect((await read(url, [200_000, 1])).equals(content)).toBe(true);
    expect(server.requests.slice(2).map(({ headers }) => headers.range)).toEqual(ranges);
  });

  it('in the middle of a long file does not show, whichever byte is the last that came', async () => {
    const bytes = randomBytes(12 * 1024 * 1024);
    const url = server.put('/long.csv', bytes);
    expect((await read(url, [1, 5_000_000, 6_500_001])).equals(bytes)).toBe(true);
    expect(server.requests.slice(2).map(({ headers }) => headers.range)).toEqual([
      'bytes=1-',
      'bytes=5000001-',
      'bytes=11500002-',
    ]);
  });

  it('does not show where a server gives fewer bytes than it was asked for', async () => {
    const url = server.put('/parts.csv', content);
    server.trouble = ({ headers }, response) => {
      const from = Number(/^bytes=([1-9]\d*)-$/.exec(headers.range ?? '')?.[1] ?? 0);
      if (from === 0) return false;
      const part = content.subarray(from, from + 150_000);
      const range = `bytes ${from}-${from + part.length - 1}/${content.length}`;
      response.writeHead(206, { etag: String(headers['if-range']), 'content-range': range }).end(part);
      return true;
    };
    expect((await read(url, [200_000])).equals(content)).toBe(true);
    expect(server.requests).toHaveLength(4);
  });

  describe('in the first look', () => {
    const cutLookAt = 9_000;
    const firstBytes = content.subarray(0, 65_536);
    it.each([
      { name: 'with an ETag', serving: {} },
      { name: 'with a date', serving: { etag: null, modified: 'Tue, 15 Nov 1994 12:45:26 GMT' } },
      { name: 'of no known length', serving: { length: false } },
    ])('is resumed after the last byte, of a file $name', async ({ serving }) => {
      const url = server.put('/look.csv', { bytes: content, cutLookAt, ...serving });
      expect((await look(url, patient)).head.equals(firstBytes)).toBe(true);
      expect(server.requests.map(({ headers }) => headers.range)).toEqual(
        Array.from({ length: 8 }, (_, cut) => `bytes=${cut * cutLookAt}-65535`),
      );
    });

    it('begins again if the file changed meanwhile, and gives the version of the bytes', async () => {
      const url = server.put('/look.csv', { bytes: content, cutLookAt });
      const later = Buffer.from('c,d\n'.repeat(100_000));
      server.trouble = () => {
        if (server.requests.length === 3) server.put('/look.csv', later);
        return false;
      };
      const looked = await look(url, patient);
      expect(looked.head.equals(later.subarray(0, 65_536))).toBe(true);
      expect(looked).toMatchObject(await look(url, patient));
    });

    it.each([
      { name: 'that tells no versions', serving: { etag: null } },
      { name: 'without ranges', serving: { ranges: false } },
    ])('begins again at a server $name, a bounded number of times', async ({ serving }) => {
      const url = server.put('/look.csv', { bytes: content, ...serving });
      const cuts = [30_000, 20_000, 50_000];
      server.trouble = () => {
        const next = cuts.shift();
        server.put('/look.csv', {
          bytes: content,
          ...serving,
          ...(next !== undefined && { cutLookAt: next }),
        });
        return false;
      };
      expect((await look(url, patient)).head.equals(firstBytes)).toBe(true);
      expect(server.requests).toHaveLength(4);
      server.trouble = undefined;
      server.put('/look.csv', { bytes: content, cutLookAt, ...serving });
      const error = await failureOf(look(url, patient));
      expect(error).toMatchObject({ code: 'ETL_SOURCE_UNREACHABLE', details: { tries: 5 } });
    });
  });

  const changed = Buffer.from(content).fill('x', 150_000, 150_001);
  it.each([
    { serving: { etag: null }, later: { bytes: changed, etag: null } },
    { serving: {}, later: { bytes: changed } },
    { serving: {}, later: { bytes: changed, etag: null } },
    {
      serving: { etag: null, length: false, ranges: false },
      later: { bytes: content.subarray(0, 150_000), etag: null, length: false },
    },
  ])('does not hide a file that changed meanwhile: $serving', async ({ serving, later }) => {
    const url = server.put('/changing.csv', { bytes: content, ...serving });
    server.trouble = () => {
      if (server.requests.length === 3) server.put('/changing.csv', later);
      return false;
    };
    expect(await failureOf(read(url, [200_000]))).toMatchObject({ code: 'ETL_SOURCE_CHANGED' });
  });

  it('does not hide that a signed URL expired meanwhile', async () => {
    const url = server.put('/signed.csv?X-Amz-Expires=60', content);
    server.trouble = (_, response) => {
      if (server.requests.length < 3) return false;
      response.writeHead(403).end();
      return true;
    };
    const error = await failureOf(read(url, [200_000]));
    expect(error).toMatchObject({
      code: 'ETL_SOURCE_DENIED',
      hint: expect.stringContaining('may have expired'),
    });
  });
});

describe('redirects', () => {
  const redirectTo = (to: string, status = 302): void => {
    server.trouble = ({ url }, response) => {
      if (url === '/file.csv') return false;
      response.writeHead(status, { location: to }).end();
      return true;
    };
  };
  const other = useHttpFiles();

  it('are followed, and credentials go to the first host alone', async () => {
    vi.stubEnv('HTTP_TEST_TOKEN', 'secret');
    const token = { kind: 'env', name: 'HTTP_TEST_TOKEN' } as const;
    const options = { ...impatient, bearer: token, headers: { 'x-team': 'sales' } };
    redirectTo('/file.csv');
    server.put('/file.csv', 'here');
    expect((await look(server.url('/a.csv'), options)).head.toString()).toBe('here');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ]);
    redirectTo(other.put('/other.csv', 'there'), 307);
    expect((await look(server.url('/a.csv'), options)).head.toString()).toBe('there');
    const [{ headers }] = other.requests as [(typeof other.requests)[number]];
    expect([headers.authorization, headers['x-team'], headers['accept-encoding']]).toEqual([
      undefined,
      undefined,
      'identity',
    ]);
  });

  it.each([
    { to: '/again', problem: 'redirected more than 10 times' },
    { to: 'file:///etc/passwd', problem: 'redirects to a URL of file:' },
    { to: 'http://[', problem: 'redirects to a text that is not a URL' },
    { to: 'http://user:hidden@127.0.0.1/', problem: 'with a user or password' },
  ])('to $to are refused', async ({ to, problem }) => {
    redirectTo(to);
    const error = await failureOf(look(server.url('/a.csv')));
    expect(error).toMatchObject({ code: 'ETL_SOURCE_ADDRESS' });
    expect(error.message).toContain(problem);
    expect(error.message).not.toContain('hidden');
  });

  it('from https to http are refused', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    encrypted.trouble = (_, response) => {
      response.writeHead(301, { location: server.url('/file.csv') }).end();
      return true;
    };
    const error = await failureOf(look(encrypted.url('/a.csv')));
    expect(error.message).toContain('without encryption (from https to http)');
    expect(server.requests).toEqual([]);
  });
});

describe('a URL', () => {
  it.each([
    ['http://h/{01..03}.csv', ['http://h/01.csv', 'http://h/02.csv', 'http://h/03.csv']],
    ['http://h/{9..11}', ['http://h/9', 'http://h/10', 'http://h/11']],
    ['http://h/{2..1}', ['http://h/2', 'http://h/1']],
    ['http://{a,b}/{1..2}', ['http://a/1', 'http://a/2', 'http://b/1', 'http://b/2']],
    ['http://h/a', ['http://h/a']],
  ])('%s names %o', (location, urls) => {
    expect([...expandBraces(location)]).toEqual(urls);
    expect(urlProblem(location)).toBe(undefined);
  });

  it.each([
    ['http://user:hidden@h/a', 'write http://h/a and give basic: { user, password'],
    ['http://h/*.csv', 'HTTP cannot list files'],
    ['http://h/{a}', 'neither a range'],
    ['http://h/{a,b', 'neither a range'],
    ['http://h/{1..9999999}', '9999999 files'],
    ['http://', 'is not a URL'],
  ])('%s is refused', (location, problem) => {
    expect(urlProblem(location)).toContain(problem);
    expect(urlProblem(location)).not.toContain('hidden');
  });

  it.each([
    [
      'x.csv?versionId=7&X-Amz-Date=20260101&X-Amz-Expires=60&X-Amz-Signature=a',
      'x.csv?versionId=7&X-Amz-Date=20260102&X-Amz-Expires=90&X-Amz-Signature=b',
    ],
    [
      'x.csv?sv=1&se=2026-01-01T00%3A00Z&sr=b&sp=r&sig=a',
      'x.csv?sv=2&se=2026-01-02T00%3A00Z&sr=b&sp=r&sig=b',
    ],
    ['x.csv?X-Goog-Date=1&X-Goog-Signature=a', 'x.csv?X-Goog-Date=2&X-Goog-Signature=b'],
    ['x.csv?Expires=1&Signature=a&Key-Pair-Id=c', 'x.csv?Expires=2&Signature=b&Key-Pair-Id=c'],
  ])('%s is the same file when it is signed again', (signed, again) => {
    const [one, other] = [signed, again].map((end) => withoutSecrets(new URL(`https://h/${end}`)));
    expect(one).toBe(other);
    expect(withoutSecrets(new URL(`https://h/x.csv?versionId=7&se=1&Expires=2`))).toContain(
      'versionId=7&se=1&Expires=2',
    );
  });

  it('is stored and shown without its secrets, and found again by what the table names', async () => {
    const signed = `${server.put('/signed.csv?X-Amz-Signature=abc&part=1&sig=d%2Fe', 'found')}#hidden`;
    const stored = withoutSecrets(new URL(signed));
    expect(stored).toBe(server.url('/signed.csv?X-Amz-Signature=***&part=1&sig=***'));
    expect((await look(stored, impatient, [server.url('/{1,2}.csv'), signed])).head.toString()).toBe('found');
    const twice = [signed, signed.replace('abc', 'xyz')];
    const listing = { table: 't', locations: twice, workingDirectory: '/' };
    const listed = async (): Promise<void> => {
      for await (const file of http.list(listing, accessWith())) expect(file.name).toBe(stored);
    };
    const error = await failureOf(listed());
    expect(error).toMatchObject({ code: 'ETL_SOURCE_ADDRESS' });
    expect(error.message).not.toMatch(/abc|xyz/);
  });
});
