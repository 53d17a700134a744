// Which version of a file an HTTP server has: by its strong ETag, else its date and size, else its size and first bytes.

import type { IncomingHttpHeaders } from 'node:http';
import { EtlError } from '../../../core/errors/errors.ts';
import type { NamedFile } from '../contract.ts';

/** The fingerprint is this as JSON. What the server does not say is not there. */
export interface HttpVersion {
  readonly bytes?: number;
  /** Strong or weak, as the server writes it. */
  readonly etag?: string;
  readonly modified?: string;
  /** SHA-256 of the first bytes, where there is neither a strong ETag nor a date. */
  readonly sample?: string;
}

export const isStrong = (etag: string | undefined): etag is string => etag?.startsWith('"') ?? false;

/** First byte and size in an answer with a part of a file (RFC 9110, 14.4). */
export const contentRangeOf = (
  headers: IncomingHttpHeaders,
): { readonly from: number | undefined; readonly total: number | undefined } => {
  const found = /^bytes (?:(\d+)-\d+|\*)\/(?:(\d+)|\*)$/.exec(headers['content-range'] ?? '');
  const number = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : Number(text);
  return { from: number(found?.[1]), total: number(found?.[2]) };
};

/** The size of the whole file, if an answer tells it. */
export const totalOf = (status: number, headers: IncomingHttpHeaders): number | undefined => {
  if (status !== 200) return contentRangeOf(headers).total;
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
};

/** What the headers of an answer say of the version; an ETag alone if it is strong. */
export const versionOf = (status: number, headers: IncomingHttpHeaders): HttpVersion => {
  const { etag, 'last-modified': modified } = headers;
  const bytes = totalOf(status, headers);
  return {
    ...(bytes !== undefined && { bytes }),
    ...(etag !== undefined && { etag }),
    ...(modified !== undefined && !isStrong(etag) && { modified }),
  };
};

/** What a server must still have for a range of it to be sent; undefined: it cannot be asked so. */
export const ifRangeOf = ({ etag, modified }: HttpVersion): string | undefined =>
  isStrong(etag) ? etag : modified;

/**
 * Compares the version of an answer with the one that was planned. An answer to `If-Range` may leave out what it has compared itself.
 * Errors: ETL_SOURCE_CHANGED.
 */
export const checkVersion = (
  { table, name }: NamedFile,
  planned: HttpVersion,
  status: number,
  headers: IncomingHttpHeaders,
): void => {
  const now = versionOf(status, headers);
  const wasCompared = status === 206 && ifRangeOf(planned) !== undefined;
  for (const part of ['etag', 'modified', 'bytes'] as const) {
    if (now[part] === planned[part]) continue;
    if (now[part] === undefined && (wasCompared || part === 'bytes')) continue;
    if (planned[part] === undefined && part === 'bytes') continue;
    throw new EtlError('ETL_SOURCE_CHANGED', { table, file: name });
  }
};
