// Converts dates and times to PostgreSQL's integers: days and microseconds since 2000-01-01.

/** Days since 2000-01-01 in the Gregorian calendar. Howard Hinnant's algorithm days_from_civil. */
const daysFromCivil = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  // There are 730,425 days from 0000-03-01 to 2000-01-01.
  return era * 146_097 + dayOfEra - 730_425;
};

const isoDate = /^(\d{4})-(\d{2})-(\d{2})/;
const isoTime = /(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?/;
const isoOffset = /(Z|[+-]\d{2}(?::\d{2})?(?::\d{2})?)$/;

/** Days since 2000-01-01 of a canonical date. */
export const daysOf = (text: string): number => {
  const [, year, month, day] = isoDate.exec(text)!;
  return daysFromCivil(Number(year), Number(month), Number(day));
};

/** Microseconds since midnight of the time in a canonical text. */
export const microsecondsOf = (text: string): number => {
  const [, hour, minute, second = '0', fraction = ''] = isoTime.exec(text)!;
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second);
  return seconds * 1_000_000 + Number(fraction.padEnd(6, '0'));
};

/** Offset of a canonical text in seconds, positive east of UTC. */
export const offsetSecondsOf = (text: string): number => {
  const offset = isoOffset.exec(text)?.[1] ?? 'Z';
  if (offset === 'Z') return 0;
  const [hours = '0', minutes = '0', seconds = '0'] = offset.slice(1).split(':');
  const size = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return offset.startsWith('-') ? -size : size;
};

/** Microseconds since 2000-01-01. A double is not exact for all years up to 9999. */
export const microsecondsSinceEpoch = (days: number, ofDay: number): bigint =>
  BigInt(days) * 86_400_000_000n + BigInt(ofDay);
