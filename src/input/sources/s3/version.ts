// Tells versions of an object apart: by size, ETag, and version id if the bucket has versions.

import { EtlError } from '../../../core/errors/errors.ts';
import type { FileVersion, KnownFile, SeenVersion } from '../contract.ts';
import type { HttpAnswer } from '../http/request.ts';
import { totalOf } from '../http/version.ts';

export const versionOf = ({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): FileVersion => {
  const bytes = totalOf(status, headers) ?? 0;
  const id = String(headers['x-amz-version-id'] ?? '');
  return { bytes, fingerprint: `${bytes}:${id}:${headers.etag ?? ''}` };
};

export const isListedVersion = (version: string, { fingerprint }: SeenVersion): boolean => {
  const [bytes, , ...etag] = fingerprint.split(':');
  return version === `${bytes}:${etag.join(':')}`;
};

/** Returns size and ETag, which copies share. Undefined if the object has no ETag. */
export const contentIn = (fingerprint: string): string | undefined => {
  const [size] = fingerprint.split(':');
  const etag = etagIn(fingerprint);
  return etag === '' ? undefined : `${size}:${etag}`;
};

export const etagIn = (fingerprint: string): string => fingerprint.split(':').slice(2).join(':');

/** Compares versions, because some servers ignore If-Match. Errors: ETL_SOURCE_CHANGED. */
export const checkVersion = ({ table, name, fingerprint }: KnownFile, answer: HttpAnswer): void => {
  if (versionOf(answer).fingerprint !== fingerprint)
    throw new EtlError('ETL_SOURCE_CHANGED', { table, file: name });
};
