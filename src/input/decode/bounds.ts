// Limits of decompression: a small file made for this purpose expands to terabytes.

/** Limits that a table declares for its files. */
export interface Bounds {
  /** Decompressed bytes for each stored byte. */
  readonly maxRatio: number;
  /** Decompressed bytes of one file. */
  readonly maxBytes: number;
}

/**
 * The best compression of real tables is below this: 1,600 columns, all but one empty, shrink by
 * 300 in gzip and by 760 in zstd (data/noaa by 7). A gzip file of zeros shrinks by more than 1,000.
 */
export const maxRatioDefault = 1000;

/** A tebibyte: longer CSV files are sent in parts. */
export const maxBytesDefault = 2 ** 40;

/** Up to this size any ratio is allowed: a few equal lines compress very well. */
const harmlessBytes = 64 * 1024 * 1024;

/** The exceeded limit as text, and its option; undefined: none is exceeded. */
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
