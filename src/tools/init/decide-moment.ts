// Decides the type and format of a column of dates or times.

import {
  bit,
  dateBit,
  datePatterns,
  timeBit,
  timePatterns,
  type DatePattern,
  type TimePattern,
} from './candidates.ts';
import type { Doubt, Summary, TypeChoice } from './contract.ts';

/** Names of columns in which digits are dates or times, however few values there are. */
const dateNames = /date|day|\bdt\b|begin|start|end/i;
const timeNames = /time|hour|hhmm/i;

/** With fewer values, digits like YYYYMMDD, or only midnights, may be a coincidence. */
const accidentMax = 20;

/** For each format: its form with two-digit days and months, and the length of such dates. */
const padded: Readonly<Partial<Record<DatePattern, readonly [pattern: string, length: number]>>> = {
  'D/M/YYYY': ['DD/MM/YYYY', 10],
  'M/D/YYYY': ['MM/DD/YYYY', 10],
  'D.M.YYYY': ['DD.MM.YYYY', 10],
  'D-M-YYYY': ['DD-MM-YYYY', 10],
  'D-MMM-YYYY': ['DD-MMM-YYYY', 11],
  'D-MMM-YY': ['DD-MMM-YY', 9],
  'D/M/YY': ['DD/MM/YY', 8],
  'M/D/YY': ['MM/DD/YY', 8],
  'YY/M/D': ['YY/MM/DD', 8],
};

const patternOf = (
  date: DatePattern,
  shortest: number,
  longest: number,
): { readonly pattern: string; readonly isFixed: boolean } => {
  const [pattern, length] = padded[date] ?? [date, shortest];
  const isFixed = shortest === length && longest === length;
  return { pattern: isFixed ? pattern : date, isFixed };
};

const orderOf = (pattern: DatePattern): string =>
  pattern.startsWith('D') ? 'day' : pattern.startsWith('M') ? 'month' : 'year';

const doubtOf = (
  patterns: readonly DatePattern[],
  decide: (pattern: DatePattern) => TypeChoice | Doubt | undefined,
): Doubt => ({
  doubt: `dates whose first part may be ${patterns.map(orderOf).join(' or ')}: kept as text; declare \`format: '${patterns[0]!}'\` or \`'${patterns[1]!}'\``,
  alternatives: patterns.flatMap((pattern) => {
    const choice = decide(pattern);
    return choice === undefined || 'doubt' in choice ? [] : [{ label: `${orderOf(pattern)} first`, choice }];
  }),
});

const decideTime = ({ all, name, lengthMin, lengthMax }: Summary): TypeChoice | undefined => {
  if ((all & bit.timeAlone) === 0) return undefined;
  if ((all & bit.isoTime) !== 0) return { type: 'time', options: {}, isOneToOne: lengthMin === lengthMax };
  const isNamed = timeNames.test(name);
  const format = timePatterns.find(
    (pattern) => (all & timeBit(pattern)) !== 0 && (pattern !== 'HHmm' || isNamed),
  );
  return format && { type: 'time', options: { format }, isOneToOne: format === 'HHmm' };
};

const decideDate = (summary: Summary, dates: readonly DatePattern[]): TypeChoice | Doubt | undefined => {
  const { name, values, lengthMin, lengthMax } = summary;
  const [date, other] = dates;
  if (date === undefined) return undefined;
  if (other !== undefined) return doubtOf(dates, (one) => decideDate(summary, [one]));
  if (date === 'YYYYMMDD' && values < accidentMax && !dateNames.test(name)) return undefined;
  const { pattern, isFixed } = patternOf(date, lengthMin, lengthMax);
  return {
    type: 'date',
    options: pattern === 'YYYY-MM-DD' ? {} : { format: pattern },
    isOneToOne: isFixed,
  };
};

const isMidnight = ({ hasTimeOfDay, values }: Summary): boolean => !hasTimeOfDay && values >= accidentMax;

const timeOf = (all: number): TimePattern | undefined =>
  timePatterns.find((pattern) => (all & timeBit(pattern)) !== 0);

const decideDateAndTime = (
  summary: Summary,
  dates: readonly DatePattern[],
): TypeChoice | Doubt | undefined => {
  const { all, dateMin, dateMax, lengthMin, lengthMax } = summary;
  const [date, other] = dates;
  const time = timeOf(all);
  if (date === undefined || time === undefined) return undefined;
  if (other !== undefined) return doubtOf(dates, (one) => decideDateAndTime(summary, [one]));
  const { pattern, isFixed } = patternOf(date, dateMin, dateMax);
  const isOneToOne =
    isFixed &&
    time.startsWith('H:') &&
    lengthMin === lengthMax &&
    lengthMax === dateMax + 1 + `H${time}`.length;
  const format = `${pattern} ${isOneToOne ? time.replace('H:', 'HH:') : time}`;
  if (isMidnight(summary))
    return { type: 'date', options: { format }, range: 'always at midnight', isOneToOne };
  return { type: 'timestamp', options: { format }, isOneToOne };
};

export const decideMoment = (summary: Summary): TypeChoice | Doubt | undefined => {
  const { all, lengthMin, lengthMax } = summary;
  if ((all & bit.timestamptz) !== 0) return { type: 'timestamptz', options: {}, isOneToOne: false };
  const dates = datePatterns.filter((pattern) => (all & dateBit(pattern)) !== 0);
  const isDate = isMidnight(summary) && (all & bit.dateAndTime) !== 0 && timeOf(all) !== undefined;
  if ((all & bit.isoTimestamp) !== 0 && !isDate)
    return { type: 'timestamp', options: {}, isOneToOne: lengthMin === lengthMax };
  if ((all & bit.dateAlone) !== 0) return decideDate(summary, dates);
  if ((all & bit.dateAndTime) !== 0) return decideDateAndTime(summary, dates);
  return decideTime(summary);
};
