// Sends a POST to a receiver, with a timeout. Redirects are not followed, and the body is not read.

import { codeOf, messageOf } from '../../core/errors/errors.ts';
import type { ChannelRequest } from './contract.ts';

export interface Refused {
  /** What went wrong, with only the host of the URL, because the rest may be secret. */
  readonly problem: string;
  readonly isFinal: boolean;
  readonly retryAfterMs?: number;
}

/** Statuses below 500 after which another attempt may succeed (RFC 9110, 15.5). */
const passingStatuses: ReadonlySet<number> = new Set([408, 409, 423, 425, 429]);

const networkProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
};

export const receiverUrl = (value: string): URL | string => {
  if (!URL.canParse(value)) return 'it is not a URL';
  const url = new URL(value);
  if (!['http:', 'https:'].includes(url.protocol)) return 'it is not a URL of http or https';
  return url.username === '' && url.password === '' ? url : 'it has a user or password in it';
};

const refusedStatus = ({ status, headers }: Response, host: string): Refused => {
  const problem = `${host} answered ${status}${status >= 300 && status < 400 ? ', and redirects are not followed' : ''}`;
  const isFinal = status < 500 && !passingStatuses.has(status);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return { problem, isFinal, ...(seconds > 0 && { retryAfterMs: seconds * 1000 }) };
};

const refusedNetwork = (error: unknown, host: string, timeoutMs: number): Refused => {
  const { cause, name } = error as Error;
  if (name === 'TimeoutError') {
    const problem = `${host} did not answer within ${(timeoutMs / 1000).toFixed(1)} s`;
    return { problem, isFinal: false };
  }
  const code = codeOf(cause);
  const known = networkProblems[code ?? ''];
  // Some errors of Node's fetch have no code, only a message such as 'bad port'.
  const problem = known === undefined ? (code ?? messageOf(cause ?? name)) : `${known} (${code})`;
  return { problem: `${host}: ${problem}`, isFinal: false };
};

const send = async (
  url: URL,
  { headers, body }: ChannelRequest,
  signal: AbortSignal,
): Promise<Refused | undefined> => {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'user-agent': 'sluice', ...headers },
    redirect: 'manual',
    signal,
  });
  const refused = response.ok ? undefined : refusedStatus(response, url.host);
  // Cancels the body, which may never end.
  await response.body?.cancel();
  return refused;
};

/**
 * Sends the request; returns undefined if it was accepted. Errors: the signal's reason.
 *
 * Does not use AbortSignal.timeout: if only AbortSignal.any refers to it, it may be garbage
 * collected, and nothing would end the request.
 */
export const post = async (
  url: URL,
  request: ChannelRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Refused | undefined> => {
  signal.throwIfAborted();
  const breaker = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    breaker.signal.addEventListener('abort', () => reject(breaker.signal.reason as Error));
  });
  const breakOff = (): void => breaker.abort(signal.reason);
  const timer = setTimeout(() => breaker.abort(new DOMException('', 'TimeoutError')), timeoutMs);
  signal.addEventListener('abort', breakOff, { once: true });
  try {
    return await Promise.race([send(url, request, breaker.signal), ended]);
  } catch (error) {
    signal.throwIfAborted();
    return refusedNetwork(error, url.host, timeoutMs);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', breakOff);
  }
};
