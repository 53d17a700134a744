// Who gets an answer from the page, and how much: tokens, hosts, origins, paths, bodies, and many slow connections.

import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { usePage } from '../helpers/page-site.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const page = usePage(() => database.url);
const control = usePage(() => database.url, { control: true });
const secure = usePage(() => database.url, { secureCookie: true });

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request as it is given: fetch corrects paths and headers. */
const send = async (options: RequestOptions, body = '', { origin } = page()): Promise<Answer> => {
  const { hostname, port } = new URL(origin);
  const sent = request({ hostname, port, agent: false, ...options });
  sent.on('error', () => undefined);
  sent.end(body);
  const [answer] = await once(sent, 'response');
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
};

const bearer = ({ token } = page()) => ({ authorization: `Bearer ${token}` });

describe('the token', () => {
  const isNothing = ({ status, body }: Answer): boolean => status === 401 && !body.includes('Pipelines');

  it.each([
    ['without one', {}],
    ['with a wrong one', { authorization: 'Bearer 0123456789abcdef0123456789abcdef' }],
    ['with an empty one', { authorization: 'Bearer ' }],
    ['with a cookie that is not ours', { cookie: 'sluice_00000000=x; other=1' }],
  ])('%s nothing is shown, not even a style', async (_, headers) => {
    for (const path of ['/', '/runs', '/live?path=/', '/assets/page.css', '/no-such-page'])
      expect(isNothing(await send({ path, headers }))).toBe(true);
  });

  it('in the address becomes a cookie that scripts and other sites do not see, and leaves the address', async () => {
    const { status, headers } = await send({ path: `/?token=${page().token}` });
    expect({ status, location: headers.location }).toEqual({ status: 303, location: '/' });
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(page().token);
    const known = await send({ path: '/', headers: { cookie: cookie.split(';')[0]! } });
    expect(known.status).toBe(200);
  });

  it('in an address that begins with two slashes leads to no other host', async () => {
    for (const path of ['//attacker.example/x', '///attacker.example', '/\\\\attacker.example'])
      expect((await send({ path: `${path}?token=${page().token}` })).headers.location ?? '/').toMatch(
        /^\/(?![/\\])/,
      );
  });

  it('becomes a cookie for TLS alone if a proxy is said to add TLS', async () => {
    const { headers } = await send({ path: `/?token=${secure().token}` }, '', secure());
    expect(headers['set-cookie']?.[0]).toMatch(/; SameSite=Strict; Secure$/);
  });

  it('that is wrong in the address is no way in, and no form is sent with it', async () => {
    expect(isNothing(await send({ path: '/?token=wrong' }))).toBe(true);
    const form = { method: 'POST', headers: { 'content-length': '0' } };
    expect(isNothing(await send({ ...form, path: `/?token=${page().token}` }))).toBe(true);
  });

  it.each(['short', 'sixteen char s ÄÖ'])('%j is refused when the page is made', async (token) => {
    const { createPage } = await import('../../src/index.ts');
    expect(() => createPage({ token })).toThrow('the token must have at least 16 visible ASCII characters');
  });
});

describe('a request from elsewhere', () => {
  it.each([
    'attacker.example',
    'attacker.example:80',
    '127.0.0.1.attacker.example',
    '127.0.0.1@attacker.example',
    '',
  ])('with the Host %j is refused, token or not', async (host) => {
    const { status, body } = await send({ path: '/', headers: { ...bearer(), host }, setHost: false });
    expect([400, 421]).toContain(status);
    expect(body).not.toContain('Pipelines');
  });

  it.each([
    ['another site', { origin: 'http://attacker.example' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin', { origin: 'null' }],
    ['nowhere', {}],
    ['a frame of another site', { origin: 'OURS', 'sec-fetch-site': 'cross-site' }],
    ['our page without the key of its forms', { origin: 'OURS', 'sec-fetch-site': 'same-origin' }],
  ])('changes nothing: a form sent from %s', async (_, given) => {
    const { origin } = control();
    const headers = Object.fromEntries(
      Object.entries({ ...given, ...bearer(control()) }).map(([name, value]) => [
        name,
        value === 'OURS' ? origin : value,
      ]),
    );
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await send(
      { method: 'POST', path: '/runs/1/cancel', headers: form },
      'key=wrong',
      control(),
    );
    expect([403, 404]).toContain(sent.status);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s is no method of a page that only reads', async (method) => {
    const { status } = await send({ method, path: '/', headers: bearer() });
    expect([403, 404, 405]).toContain(status);
  });
});

describe('a path', () => {
  it.each([
    '/../../etc/passwd',
    '/assets/../../../package.json',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..\\..\\package.json',
    '/assets/page.css%00.js',
    '/assets/__proto__',
    '//etc/passwd',
    '/runs/1/../../../etc/passwd',
    '/live?path=../../etc/passwd',
    '/runs/99999999999999999999',
    '/runs/%ff',
    `/${'a'.repeat(4_000)}`,
  ])('%s leads to no file', async (path) => {
    const { status, body } = await send({ path, headers: bearer() });
    expect([400, 404]).toContain(status);
    expect(body).not.toMatch(/root:|"dependencies"/);
  });

  it('is answered with headers that allow a browser nothing', async () => {
    const { headers } = await send({ path: '/no-such-page', headers: bearer() });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('what a client may cost', () => {
  it('40 HEAD requests take no stream from others', async () => {
    const live = { path: '/live?path=/schedules', headers: bearer() };
    for (let count = 0; count < 40; count += 1) {
      const { status, headers, body } = await send({ ...live, method: 'HEAD' });
      expect({ status, type: headers['content-type'], body }).toEqual({
        status: 200,
        type: 'text/event-stream',
        body: '',
      });
    }
    const { hostname, port } = new URL(page().origin);
    const stream = request({ hostname, port, agent: false, ...live }).end();
    const [answer] = (await once(stream, 'response')) as [IncomingMessage];
    stream.destroy();
    expect(answer.statusCode).toBe(200);
  });

  /** Says of a socket what it has read when it ends. */
  const untilClosed = async (socket: Socket): Promise<string> => {
    let read = '';
    socket.on('data', (bytes) => (read += String(bytes)));
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('close', resolve));
    return read;
  };
  const open = (): Socket => connect(Number(new URL(page().origin).port), '127.0.0.1');

  it('a body of 100 MB is refused after its first bytes, said before or not', async () => {
    const MB = Buffer.alloc(1_000_000);
    for (const length of ['content-length: 100000000', 'transfer-encoding: chunked']) {
      const socket = open();
      const closed = untilClosed(socket);
      const head = `POST /runs/1/cancel HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${page().token}\r\n${length}\r\n\r\n`;
      socket.write(head);
      let sent = 0;
      for (; sent < 100 && !socket.destroyed; sent += 1) {
        const piece = length.startsWith('t')
          ? Buffer.concat([Buffer.from('f4240\r\n'), MB, Buffer.from('\r\n')])
          : MB;
        if (!socket.write(piece))
          await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
      }
      socket.destroy();
      expect(await closed).toMatch(/^HTTP\/1\.1 41[13] /);
      expect(sent).toBeLessThan(20);
    }
  });

  it('of 1,000 idle connections a bounded number stays, and for a bounded time', async () => {
    const sockets = Array.from({ length: 1_000 }, open);
    const closed = sockets.map(untilClosed);
    const isOpen = ({ readyState }: Socket): boolean => readyState === 'open';
    await expect
      .poll(() => sockets.filter((socket) => socket.connecting || isOpen(socket)).length, { timeout: 20_000 })
      .toBeLessThanOrEqual(256);
    expect(sockets.filter(isOpen).length).toBeGreaterThan(100);
    // Half a request is no reason to wait for the rest.
    for (const socket of sockets.filter(isOpen)) socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n');
    await Promise.all(closed);
    expect((await send({ path: '/', headers: bearer() })).status).toBe(200);
  });
});
