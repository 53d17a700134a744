// Steps of a date and time pattern, and the parts they find, in the memory of the row routine.

/** A step of a pattern: one of `reads`, its argument, and the byte that must follow (0: any). */
export const patternStep = { reads: 0, needs: 4, next: 8, bytes: 12 };
/** The kinds of steps, with the argument in brackets; `end` comes after the last. */
export const reads = {
  end: 0,
  /** (the byte) */
  byte: 1,
  /** Digits (the part whose number they are): one or two, exactly two, exactly four. */
  oneOrTwo: 2,
  two: 3,
  four: 4,
  /** Year of two digits; month of three letters; AM or PM. */
  shortYear: 5,
  monthName: 6,
  half: 7,
  /** Digits after the point (how many). */
  fraction: 8,
  offset: 9,
};
/** Type of the value that is written. */
/** date: of midnight only · dayOfMoment: of any time of day. */
export const writes = { date: 0, time: 1, timestamp: 2, dayOfMoment: 3 };
/** The parts that a pattern finds, as offsets of i32; 0 when it has none. */
export const part = {
  year: 0,
  month: 4,
  day: 8,
  hour: 12,
  minute: 16,
  second: 20,
  /** Microseconds. */
  fraction: 24,
  /** 1: AM · 2: PM. */
  half: 28,
  /** Seconds east of UTC. */
  offset: 32,
  bytes: 40,
};
