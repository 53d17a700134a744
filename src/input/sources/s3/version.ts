// Which version of an object an answer has: its size, its ETag, and its id where the bucket keeps versions.

import { EtlError } from '../../../core/errors/errors.ts';
import type { FileState, KnownFile, SeenVersion } from '../contract.ts';
import type { HttpAnswer } from '../http/request.ts';
import { totalOf } from '../http/version.ts';

export const stateOf = ({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): FileState => {
  const bytes = totalOf(status, headers) ?? 0;
  const id = String(headers['x-amz-version-id'] ?? '');
  return { bytes, fingerprint: `${bytes}:${id}:${headers.etag ?? ''}` };
};

/** Whether a version is that of a listing, which has sizes and ETags only. */
export const isListedVersion = (version: string, { fingerprint }: SeenVersion): boolean => {
  const [bytes, , ...etag] = fingerprint.split(':');
  return version === `${bytes}:${etag.join(':')}`;
};

/** A copy has another id. Objects without an ETag cannot be compared. */
export const contentIn = (fingerprint: string): string | undefined => {
  const [size] = fingerprint.split(':');
  const etag = etagIn(fingerprint);
  return etag === '' ? undefined : `${size}:${etag}`;
};

export const etagIn = (fingerprint: string): string => fingerprint.split(':').slice(2).join(':');

/** Not every server obeys If-Match: what it answers is compared. Errors: ETL_SOURCE_CHANGED. */
export const checkVersion = ({ table, name, fingerprint }: KnownFile, answer: HttpAnswer): void => {
  if (stateOf(answer).fingerprint !== fingerprint)
    throw new EtlError('ETL_SOURCE_CHANGED', { table, file: name });
};
