// Memory layout of a pattern's steps, and of the date parts that they find.

/**
 * Offsets in a step of a pattern: what it reads (one of `reads`), the argument of that, and the
 * byte that must follow (0: any). `bytes`: size of a step.
 */
export const patternStep = { reads: 0, needs: 4, next: 8, bytes: 12 };
export const reads = {
  end: 0,
  /** Argument: the byte. */
  byte: 1,
  /** Argument of these three steps: the part to set. */
  oneOrTwo: 2,
  two: 3,
  four: 4,
  shortYear: 5,
  monthName: 6,
  half: 7,
  /** Argument: how many digits. */
  fraction: 8,
  offset: 9,
};
/** Values to write. `date` refuses a time of day, `dayOfMoment` drops it. */
export const writes = { date: 0, time: 1, timestamp: 2, dayOfMoment: 3 };
/** Offsets of i32 values. A part that the pattern does not name is 0. */
export const part = {
  year: 0,
  month: 4,
  day: 8,
  hour: 12,
  minute: 16,
  second: 20,
  fraction: 24,
  /** 1: AM · 2: PM. */
  half: 28,
  /** Seconds east of UTC. */
  offset: 32,
  bytes: 40,
};
