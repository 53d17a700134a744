// Where to put bytes that are copied between shared memory and a thread's own.

/** V8 copies so many bytes at once where both places are aligned alike, and single bytes elsewhere; own memory it copies without regard to that. */
export const wordBytes = 8;

/** The first place from `at` on that is aligned as `bytes` are: from or to shared memory, copying takes a sixth of the time there. */
export const placeAlike = (bytes: Uint8Array, at: number): number =>
  at + ((bytes.byteOffset - at) & (wordBytes - 1));
