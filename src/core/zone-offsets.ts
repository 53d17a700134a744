// Offsets of time zones such as Europe/Berlin from UTC, and when a zone changes its offset.

/** The offset from UTC at an instant, positive in the east. Both in milliseconds. */
export type OffsetAt = (instantMs: number) => number;

/** The returned function takes microseconds. Throws a RangeError for an unknown zone. */
export const zoneOffsets = (timeZone: string): OffsetAt => {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (instantMs) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = clock
      .format(instantMs)
      .match(/\d+/g)!
      .map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instantMs / 1000) * 1000;
  };
};

/**
 * Returns the first instant after `from` with another offset; undefined: `to` has the offset of
 * `from`. There must be at most one change in between.
 */
export const changeBetween = (offsetAt: OffsetAt, from: number, to: number): number | undefined => {
  const offset = offsetAt(from);
  if (offsetAt(to) === offset) return undefined;
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle) === offset) before = middle;
    else after = middle;
  }
  return after;
};
