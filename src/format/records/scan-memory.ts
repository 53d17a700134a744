// Memory layout of the record scan.

/** Bytes scanned at once: few enough for the processor's L2 cache. */
export const windowBytes = 64 * 1024;

export const state = { start: 0, line: 1, lines: 2, inside: 3, special: 4, found: 5 };
/** The byte before the window is kept at `windowAt` - 1. */
export const windowAt = 64;
export const startsAt = windowAt + windowBytes;
const listBytes = 4 * windowBytes;
export const endsAt = startsAt + listBytes;
export const linesAt = endsAt + listBytes;
export const memoryBytes = linesAt + listBytes;
