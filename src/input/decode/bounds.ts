// How much a compressed file may become: a small file that is made for it becomes terabytes.

/** Declared for the files of a table. */
export interface Bounds {
  /** Decoded bytes for each stored one. */
  readonly maxRatio: number;
  /** Decoded bytes of one file. */
  readonly maxBytes: number;
}

/**
 * Tables of which nearly nothing is known are what compresses best: 1,600 columns, of which all but one are empty, become 300 times
 * as small in gzip and 760 times in zstd; those of data/noaa 7 times. A gzip of nothing but zeros is above a thousand.
 */
export const maxRatioDefault = 1000;

/** No CSV file is a tebibyte long that anybody would send as one. */
export const maxBytesDefault = 2 ** 40;

/** So much harms nobody, and the ratio of a few equal lines says nothing. */
const harmlessBytes = 64 * 1024 * 1024;

/** The bound that is exceeded, with the option that sets it; undefined: none. */
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
