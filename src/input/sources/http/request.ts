// Sends an HTTP request. Only the first host gets credentials.

import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import { isIP } from 'node:net';
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
  /** Headers that are sent only to the origin of `url`. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean;
  /** False: a redirect is returned as the answer. */
  readonly redirects?: boolean;
  /** True: a piece is valid only until the third piece after it is requested. */
  readonly reusesMemory?: boolean;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal | undefined;
}

/** The caller must read the body to its end, or close the answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Throws Passing (worth a retry) if the connection is cut, or no byte comes for `idleMs`. */
  readonly body: AsyncIterable<Buffer>;
  readonly close: () => void;
}

const redirectsMax = 10;

/** Connections to unchecked addresses are kept separately, so that no checked request uses them. */
const agentsFor = (lookup: typeof lookupPublic | undefined) => {
  // `highWaterMark` bounds the piece with the bytes that arrive while nobody reads.
  const options = { keepAlive: true, highWaterMark: socketBytes, ...(lookup && { lookup }) };
  return { 'http:': new WideAgent(options), 'https:': new TlsAgent(options) };
};
const agents = { checked: agentsFor(lookupPublic), unchecked: agentsFor(undefined) };

const proxyVariables = ['https_proxy', 'http_proxy', 'all_proxy'] as const;

/** Hint for a failed connection if the environment has a proxy, because sluice uses no proxy. */
const proxyHint = (): string => {
  const name = proxyVariables
    .flatMap((lower) => [lower, lower.toUpperCase()])
    .find((one) => process.env[one] !== undefined);
  return name === undefined ? '' : ` ${name} is set, but sluice uses no proxy.`;
};

const wrongAddress = (file: NamedFile, problem: string, hint: string, cause?: unknown): EtlError =>
  new EtlError('ETL_SOURCE_ADDRESS', { table: file.table, file: file.name, problem, hint }, { cause });

const isCertificateError = (code: string | undefined): boolean => /CERT|SIGNATURE|^ERR_TLS/.test(code ?? '');

const isTlsError = (code: string | undefined): boolean => /^ERR_SSL|^EPROTO$/.test(code ?? '');

/** Returns OpenSSL's reason, without the library, function and file in Node's message. */
const reasonOf = (cause: unknown): string =>
  /error:[^:]*:[^:]*:[^:]*:([^:]+)/.exec(messageOf(cause))?.[1] ?? messageOf(cause);

const notHttp = 'HPE_INVALID_CONSTANT';

/** Returns ETL_SOURCE_ADDRESS if another attempt cannot help, else Passing (worth a retry). */
const failureOf = (file: NamedFile, { hostname }: URL, cause: unknown): Error => {
  if (cause instanceof EtlError || cause instanceof Passing) return cause;
  const wrong = (problem: string, hint: string): EtlError => wrongAddress(file, problem, hint, cause);
  if (cause instanceof PrivateAddress)
    return wrong(cause.message, 'If the address is right, allow it: csv(…, { allowPrivate: true }).');
  const code = codeOf(cause);
  if (code === 'ENOTFOUND')
    return wrong(`no host has the name ${hostname}`, `Check the host in the URL.${proxyHint()}`);
  if (code?.startsWith('ERR_INVALID') === true)
    return wrong(messageOf(cause), 'Check headers and credentials. A token may end with a line break.');
  if (isCertificateError(code))
    return wrong(
      `the connection to ${hostname} is not trusted: ${messageOf(cause)}`,
      'If your own authority made the certificate, name the file of the authority in NODE_EXTRA_CA_CERTS. Certificates are always checked.',
    );
  if (isTlsError(code))
    return wrong(
      `no encrypted connection to ${hostname}: ${reasonOf(cause)}`,
      'Check scheme and port of the URL. The URL of a server without encryption begins with http://.',
    );
  const problems: Readonly<Record<string, string>> = {
    ECONNREFUSED: `nothing listens at ${hostname}`,
    [notHttp]: 'what answers is not HTTP; check scheme and port of the URL',
  };
  const problem = problems[code ?? ''] ?? messageOf(cause);
  return new Passing(`${problem}.${proxyHint()}`.replace(/\.$/, ''), { cause });
};

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
  const again = (): void => void timer?.refresh();
  return { start, stop, again };
};

interface Answered {
  readonly response: IncomingMessage;
  /** Reads the body directly from the socket. Undefined: `response` has the body. */
  readonly long: LongBody | undefined;
}

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
        // A request that the signal ended may look complete.
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
    // Replaces Node's option `signal`, which would also destroy a connection that a later request
    // uses. `destroy` gets no reason: after the answer, nobody would handle this error.
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
  if (!URL.canParse(location, from.href)) throw refuse('a text that is not a URL');
  const to = new URL(location, from);
  if (!['http:', 'https:'].includes(to.protocol)) throw refuse(`a URL of ${to.protocol}`);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw refuse(`${to.host} without encryption (from https to http)`);
  if (to.username !== '' || to.password !== '') throw refuse('a URL with a user or password in it');
  return to;
};

/**
 * Sends a request, and follows redirects. Unless private addresses are allowed, each connection's
 * address is checked.
 *
 * Errors: ETL_SOURCE_ADDRESS; Passing if another attempt may help; the signal's reason.
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
