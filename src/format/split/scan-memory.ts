// Addresses in the memory of the record scan: its state, a window of text in, lists of records out.

/** Bytes of the file in the routine's memory at once: few enough for the processor's nearest caches. */
export const windowBytes = 64 * 1024;

/** State of a pass, kept in memory between windows: places of i32. */
export const state = { start: 0, line: 1, lines: 2, inside: 3, special: 4, found: 5 };
/** The byte before the window is directly before it. */
export const windowAt = 64;
export const startsAt = windowAt + windowBytes;
/** Every byte may be a record of its own. */
const listBytes = 4 * windowBytes;
export const endsAt = startsAt + listBytes;
export const linesAt = endsAt + listBytes;
export const memoryBytes = linesAt + listBytes;
