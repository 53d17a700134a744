// One HTTP request: bounded waiting, redirects that lead to no forbidden place, and credentials for nobody but the first host.

import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import { isIP } from 'node:net';
import { fingerprintSampleBytes } from '../../../core/limits.ts';
import { codeOf, EtlError, messageOf } from '../../../core/errors/errors.ts';
import type { NamedFile } from '../contract.ts';
import { isPrivate, lookupPublic, PrivateAddress } from './addresses.ts';
import { socketBytes, takeLongBody, WideAgent, type LongBody } from './long-body.ts';
import { Passing } from '../resume.ts';
import type { Timeouts } from './declared.ts';

export interface HttpRequest {
  readonly file: NamedFile;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** For the host of `url` alone. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean;
  /** Whether redirects are followed; if not, they are answers. */
  readonly redirects?: boolean;
  /** The receiver is done with a piece of the body when it asks for the third after it: the piece's memory may be used again. */
  readonly reusesMemory?: boolean;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal | undefined;
}

/** An answer whose body is not read yet. It must be read, or closed. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Throws Passing when it is cut off, or nothing comes. */
  readonly body: AsyncIterable<Buffer>;
  readonly close: () => void;
}

/** The first bytes of an answer. */
export const headOf = async ({ body }: HttpAnswer): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    // One that has no more is read to its end: its connection serves the next request.
    if (bytes > fingerprintSampleBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, fingerprintSampleBytes);
};

/** As browsers do; more is a circle. */
const redirectsMax = 10;

/** Connections are kept for the next request; those to private addresses apart, because a kept one is not checked again. */
const agentsFor = (lookup: typeof lookupPublic | undefined) => {
  // What has come while nobody asked is then given in one piece, of at most twice as much.
  const options = { keepAlive: true, highWaterMark: socketBytes, ...(lookup && { lookup }) };
  return { 'http:': new WideAgent(options), 'https:': new TlsAgent(options) };
};
const agents = { checked: agentsFor(lookupPublic), unchecked: agentsFor(undefined) };

const proxyVariables = ['https_proxy', 'http_proxy', 'all_proxy'] as const;

/** Proxies are not used; where one is needed, the connection fails, and this is why. */
const proxyHint = (): string => {
  const name = proxyVariables
    .flatMap((lower) => [lower, lower.toUpperCase()])
    .find((one) => process.env[one] !== undefined);
  return name === undefined ? '' : ` ${name} is set, but sluice uses no proxy.`;
};

const wrongAddress = (file: NamedFile, problem: string, hint: string, cause?: unknown): EtlError =>
  new EtlError('ETL_SOURCE_ADDRESS', { table: file.table, file: file.name, problem, hint }, { cause });

const isOfTrust = (code: string | undefined): boolean => /CERT|SIGNATURE|^ERR_TLS/.test(code ?? '');

/** TLS did not come about: the server speaks another protocol, or another version of this one. */
const isOfTls = (code: string | undefined): boolean => /^ERR_SSL|^EPROTO$/.test(code ?? '');

/** OpenSSL's own reason, which Node gives between its library, function and source file. */
const reasonOf = (cause: unknown): string =>
  /error:[^:]*:[^:]*:[^:]*:([^:]+)/.exec(messageOf(cause))?.[1] ?? messageOf(cause);

/** Node's parser found no answer where one should begin. */
const notHttp = 'HPE_INVALID_CONSTANT';

/** What a failure to connect or to be answered means: what no second try can change, or Passing. */
const failureOf = (file: NamedFile, { hostname }: URL, cause: unknown): Error => {
  if (cause instanceof EtlError || cause instanceof Passing) return cause;
  if (cause instanceof PrivateAddress)
    return wrongAddress(
      file,
      cause.message,
      'If it is meant, allow it: csv(…, { allowPrivate: true }).',
      cause,
    );
  const code = codeOf(cause);
  if (code === 'ENOTFOUND')
    return wrongAddress(
      file,
      `no host has the name ${hostname}`,
      `Check the host in the URL.${proxyHint()}`,
      cause,
    );
  if (code?.startsWith('ERR_INVALID') === true)
    return wrongAddress(
      file,
      messageOf(cause),
      'Check headers and credentials: a line break at the end of a token?',
      cause,
    );
  if (isOfTrust(code))
    return wrongAddress(
      file,
      `the connection to ${hostname} is not trusted: ${messageOf(cause)}`,
      'If the certificate is of an authority of your own, name its file in NODE_EXTRA_CA_CERTS. Certificates are always checked.',
      cause,
    );
  if (isOfTls(code))
    return wrongAddress(
      file,
      `no encrypted connection to ${hostname}: ${reasonOf(cause)}`,
      'Check scheme and port of the URL: a server without encryption is named with http://.',
      cause,
    );
  const problems: Readonly<Record<string, string>> = {
    ECONNREFUSED: `nothing listens at ${hostname}`,
    [notHttp]: 'what answers is not HTTP; check scheme and port of the URL',
  };
  const problem = problems[code ?? ''] ?? messageOf(cause);
  return new Passing(`${problem}.${proxyHint()}`.replace(/\.$/, ''), { cause });
};

/** Fails when nothing happened for some time. */
const createClock = (expire: (error: Passing) => void) => {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const start = (ms: number, what: string): void => {
    stop();
    timer = setTimeout(() => expire(new Passing(`${what} within ${ms / 1000} s`)), ms);
  };
  /** Something happened. */
  const again = (): void => void timer?.refresh();
  return { start, stop, again };
};

interface Answered {
  readonly response: IncomingMessage;
  /** Its body, if that does not come by the response. */
  readonly long: LongBody | undefined;
}

/** Gives the next piece of a body; undefined at its end. */
const readerOf = ({ response, long }: Answered): LongBody['next'] => {
  if (long !== undefined) return long.next;
  const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  return async () => (await pieces.next()).value;
};

async function* bodyOf(
  answered: Answered,
  { file, url, timeouts, signal }: HttpRequest,
): AsyncGenerator<Buffer, void> {
  const { response, long } = answered;
  const clock = createClock((error) => response.destroy(error));
  const nextPiece = readerOf(answered);
  if (long !== undefined) long.onArrival = clock.again;
  try {
    for (;;) {
      clock.start(timeouts.idleMs, 'nothing more came');
      const piece = await nextPiece();
      clock.stop();
      if (piece === undefined) {
        // What breaks a request off may look like its end.
        signal?.throwIfAborted();
        return;
      }
      yield piece;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    const isCut = codeOf(cause) === 'ECONNRESET';
    throw isCut ? new Passing('the connection was cut', { cause }) : failureOf(file, url, cause);
  } finally {
    clock.stop();
    response.destroy();
  }
}

/** One request without redirects. */
const askOnce = (asked: HttpRequest, headers: HttpRequest['headers']): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { url, allowPrivate, timeouts, signal } = asked;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (!allowPrivate && isIP(host) !== 0 && isPrivate(host)) {
      reject(new PrivateAddress(host, host));
      return;
    }
    const isTls = url.protocol === 'https:';
    const agent = agents[allowPrivate ? 'unchecked' : 'checked'][isTls ? 'https:' : 'http:'];
    const request = (isTls ? requestTls : requestPlain)(url, { agent, headers });
    // As an option of the request, the signal would also end the connection when that serves another request.
    // Without a reason, too: a connection whose answer has come would emit it with nobody listening.
    const breakOff = (): void => void request.destroy();
    if (signal?.aborted === true) breakOff();
    signal?.addEventListener('abort', breakOff, { once: true });
    request.once('close', () => signal?.removeEventListener('abort', breakOff));
    const clock = createClock((error) => request.destroy(error));
    clock.start(timeouts.connectMs, 'no connection');
    const awaitAnswer = (): void => clock.start(timeouts.headersMs, 'no answer');
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once(isTls ? 'secureConnect' : 'connect', awaitAnswer);
      else awaitAnswer();
    });
    request.once('response', (response) => {
      clock.stop();
      resolve({ response, long: asked.reusesMemory === true ? takeLongBody(response) : undefined });
    });
    request.on('error', (error) => {
      clock.stop();
      reject(error);
    });
    request.end();
  });

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where an answer sends us; undefined: nowhere. Errors: ETL_SOURCE_ADDRESS. */
const redirectOf = (
  file: NamedFile,
  from: URL,
  { statusCode, headers }: IncomingMessage,
): URL | undefined => {
  const { location } = headers;
  if (!redirectStatuses.has(statusCode!) || location === undefined) return undefined;
  const refuse = (problem: string): EtlError =>
    wrongAddress(
      file,
      `${from.host} redirects to ${problem}`,
      'If that is right, name the final URL in the pipeline.',
    );
  if (!URL.canParse(location, from.href)) throw refuse('what is no URL');
  const to = new URL(location, from);
  if (!['http:', 'https:'].includes(to.protocol)) throw refuse(`a URL of ${to.protocol}`);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw refuse(`${to.host} without encryption (from https to http)`);
  if (to.username !== '' || to.password !== '') throw refuse('a URL with a user or password in it');
  return to;
};

/**
 * Asks, and follows redirects. A private address is refused wherever it comes from, unless it is allowed: what is checked is what
 * is connected to. Errors: ETL_SOURCE_ADDRESS; Passing for what may be tried again; the signal's reason.
 */
export const requestHttp = async (asked: HttpRequest): Promise<HttpAnswer> => {
  const { file, signal, credentials } = asked;
  let url = asked.url;
  let own = credentials;
  for (let redirects = 0; ; redirects += 1) {
    const current = { ...asked, url };
    const answered = await askOnce(current, { ...asked.headers, ...own }).catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw failureOf(file, url, cause);
    });
    const { response } = answered;
    try {
      const next = asked.redirects === false ? undefined : redirectOf(file, url, response);
      if (next === undefined) {
        const { statusCode: status, headers } = response;
        return {
          status: status!,
          headers,
          body: bodyOf(answered, current),
          close: () => void response.destroy(),
        };
      }
      if (redirects >= redirectsMax)
        throw wrongAddress(
          file,
          `it was redirected more than ${redirectsMax} times`,
          "Open the URL in a browser. Cookies are not kept: if it wants one, give it: headers: { cookie: env('COOKIE') }.",
        );
      if (next.origin !== url.origin) own = {};
      url = next;
      response.destroy();
    } catch (error) {
      response.destroy();
      throw error;
    }
  }
};
