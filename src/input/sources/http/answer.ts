// Turns the status and headers of an HTTP answer into errors that say what to do.

import { STATUS_CODES } from 'node:http';
import { EtlError } from '../../../core/errors/errors.ts';
import type { NamedFile } from '../contract.ts';
import type { HttpAnswer } from './request.ts';
import { Passing } from '../resume.ts';

const statusText = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trim();

/** Parses the header retry-after, which has seconds or a date (RFC 9110, 10.2.3). */
export const retryAfterMs = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? undefined : Math.max(0, until - Date.now());
};

const mayPass = (status: number): boolean =>
  [408, 425, 429].includes(status) || (status >= 500 && ![501, 505, 511].includes(status));

const deniedHint = (status: number): string =>
  status === 401 || status === 407
    ? "Give credentials: csv(…, { bearer: env('TOKEN') }), basic or headers; docs/guide/files-from-elsewhere.md."
    : 'Check that these credentials may read it. A signed URL may have expired: make a new one.';

export const statusError = (
  { table, name }: NamedFile,
  { status, headers }: Pick<HttpAnswer, 'status' | 'headers'>,
): Error => {
  const problem = `the server answers ${statusText(status)}`;
  if (mayPass(status)) return new Passing(problem, { retryAfterMs: retryAfterMs(headers['retry-after']) });
  const details = { table, file: name, problem };
  if ([401, 403, 407].includes(status))
    return new EtlError('ETL_SOURCE_DENIED', { ...details, hint: deniedHint(status) });
  if (status === 404 || status === 410)
    return new EtlError('ETL_SOURCE_GONE', { ...details, hint: 'Check the URL.' });
  const hint =
    status === 400
      ? 'Check the URL. A signed URL may have expired: make a new one.'
      : 'Open the URL in a browser, or with `curl -v`, to see what the server expects.';
  return new EtlError('ETL_SOURCE_ADDRESS', { ...details, hint });
};

/** Allowed values of content-encoding: sluice decodes these files by their first bytes. */
const decodedByContent: ReadonlySet<string> = new Set(['', 'identity', 'gzip', 'x-gzip', 'zstd']);

export const refuseContent = (
  { table, name }: NamedFile,
  { headers }: Pick<HttpAnswer, 'headers'>,
  head: Buffer,
): void => {
  const named = { table, file: name };
  const encoding = headers['content-encoding']?.toLowerCase() ?? '';
  if (!decodedByContent.has(encoding))
    throw new EtlError('ETL_SOURCE_FORMAT', {
      ...named,
      problem: `is sent with the content encoding ${encoding}, though none was asked for`,
      hint: 'Ask its server to send the file as it is stored.',
    });
  const isPage = /^(?:text\/html|application\/xhtml)/i.test(headers['content-type'] ?? '');
  if (isPage && /^[\s\ufeff]*</.test(head.toString('utf8', 0, 1024)))
    throw new EtlError('ETL_SOURCE_FORMAT', {
      ...named,
      problem: 'is a web page (text/html), not a CSV file',
      hint: 'It is probably a login page or an error. Open the URL in a browser. Credentials are given with bearer, basic or headers.',
    });
};
