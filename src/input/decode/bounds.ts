// Limits of decompression, because a small malicious file can expand to terabytes.

/** Limits that a table declares for its files. */
export interface Bounds {
  /** Most decompressed bytes for each stored byte. */
  readonly maxRatio: number;
  /** Most decompressed bytes of one file. */
  readonly maxBytes: number;
}

/** Real tables shrink at most to 1/760, with zstd. Gzip shrinks even zeros only to 1/1,000. */
export const maxRatioDefault = 1000;

/** A tebibyte: longer CSV files are sent in parts. */
export const maxBytesDefault = 2 ** 40;

/** Up to this decompressed size, any ratio is allowed: a few equal lines compress very well. */
const harmlessBytes = 64 * 1024 * 1024;

export const exceededBound = (
  stored: number,
  decoded: number,
  { maxRatio, maxBytes }: Bounds,
): { readonly what: string; readonly option: string } | undefined => {
  if (decoded > maxBytes) return { what: `${maxBytes} bytes`, option: 'maxBytes' };
  return decoded > harmlessBytes && decoded > maxRatio * stored
    ? { what: `${maxRatio} times its size`, option: 'maxRatio' }
    : undefined;
};
