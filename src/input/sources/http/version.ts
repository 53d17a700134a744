// Tells versions of a file on an HTTP server apart: by strong ETag, by date and size, or by hash.

import type { IncomingHttpHeaders } from 'node:http';
import { EtlError } from '../../../core/errors/errors.ts';
import type { NamedFile } from '../contract.ts';

export interface HttpVersion {
  readonly bytes?: number;
  readonly etag?: string;
  readonly modified?: string;
  /** SHA-256 of the first bytes, if the server sends neither a strong ETag nor a date. */
  readonly sample?: string;
}

const isStrong = (etag: string | undefined): etag is string => etag?.startsWith('"') ?? false;

/** Returns the first byte and the total size of a partial answer (RFC 9110, 14.4). */
export const contentRangeOf = (
  headers: IncomingHttpHeaders,
): { readonly from: number | undefined; readonly total: number | undefined } => {
  const found = /^bytes (?:(\d+)-\d+|\*)\/(?:(\d+)|\*)$/.exec(headers['content-range'] ?? '');
  const number = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : Number(text);
  return { from: number(found?.[1]), total: number(found?.[2]) };
};

export const firstByteOf = ({
  status,
  headers,
}: {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}): number | undefined => (status === 206 ? contentRangeOf(headers).from : 0);

export const totalOf = (status: number, headers: IncomingHttpHeaders): number | undefined => {
  if (status !== 200) return contentRangeOf(headers).total;
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
};

export const versionOf = (status: number, headers: IncomingHttpHeaders): HttpVersion => {
  const { etag, 'last-modified': modified } = headers;
  const bytes = totalOf(status, headers);
  return {
    ...(bytes !== undefined && { bytes }),
    ...(etag !== undefined && { etag }),
    ...(modified !== undefined && !isStrong(etag) && { modified }),
  };
};

/** Value of the header If-Range: the server sends a range only if it still has this version. */
export const ifRangeOf = ({ etag, modified }: HttpVersion): string | undefined =>
  isStrong(etag) ? etag : modified;

/**
 * Throws ETL_SOURCE_CHANGED if the server has another version. A server that answers If-Range with
 * a range has compared the versions itself, and may omit headers.
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
