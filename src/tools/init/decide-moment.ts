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
import { mostFaithful } from './losses.ts';

/** Names of columns in which digits are dates or times, however few values there are. */
const dateNames = /date|day|\bdt\b|begin|start|end/i;
const timeNames = /time|hour|hhmm/i;

/** With fewer values, digits like YYYYMMDD, or only midnights, may be a coincidence. */
const accidentMax = 20;

/** Returns the pattern with days, months and hours of two digits, then the pattern itself. */
const widthsOf = (pattern: string): readonly string[] => [
  pattern.replace(/(?<![A-Za-z])([DMHh])(?![A-Za-z])/g, '$1$1'),
  pattern,
];

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

const isoMoment = /^(?:\d{4}-\d\d-\d\d([T ]))?\d\d:\d\d(:\d\d)?(?:\.(\d{1,9}))?(Z?)$/;

/** Returns the format of a text in ISO 8601 without an offset other than Z. */
const isoFormat = (text: string): string | undefined => {
  const parts = isoMoment.exec(text);
  if (parts === null) return undefined;
  const [, separator, seconds, decimals, zone] = parts;
  const date = separator === undefined ? '' : `YYYY-MM-DD${separator}`;
  const fraction = decimals === undefined ? '' : `.${'S'.repeat(decimals.length)}`;
  return `${date}HH:mm${seconds === undefined ? '' : ':ss'}${fraction}${zone}`;
};

/** Without a format, the texts are as the server writes them, or in several forms of ISO 8601. */
const decideIso = (type: 'time' | 'timestamp' | 'timestamptz', { examples }: Summary): TypeChoice => {
  const format = isoFormat(examples[0]?.text ?? '');
  return mostFaithful(examples, [
    { type, options: {} },
    ...(format === undefined ? [] : [{ type, options: { format } }]),
    { type, options: {} },
  ]);
};

const decideTime = (summary: Summary): TypeChoice | undefined => {
  const { all, name, examples } = summary;
  if ((all & bit.timeAlone) === 0) return undefined;
  const isNamed = timeNames.test(name);
  const clock = timePatterns.find(
    (pattern) => (all & timeBit(pattern)) !== 0 && (pattern !== 'HHmm' || isNamed),
  );
  if (
    (all & bit.isoTime) !== 0 &&
    (clock === undefined || clock === 'HHmm' || examples.every(({ text }) => isoMoment.test(text)))
  )
    return decideIso('time', summary);
  if (clock === undefined) return undefined;
  return mostFaithful(
    examples,
    widthsOf(clock).map((format) => ({ type: 'time', options: { format } })),
  );
};

const decideDate = (summary: Summary, dates: readonly DatePattern[]): TypeChoice | Doubt | undefined => {
  const { name, values, examples } = summary;
  const [date, other] = dates;
  if (date === undefined) return undefined;
  if (other !== undefined) return doubtOf(dates, (one) => decideDate(summary, [one]));
  if (date === 'YYYYMMDD' && values < accidentMax && !dateNames.test(name)) return undefined;
  const formats = date === 'YYYY-MM-DD' ? [{}] : widthsOf(date).map((format) => ({ format }));
  return mostFaithful(
    examples,
    formats.map((options) => ({ type: 'date', options })),
  );
};

const isMidnight = ({ hasTimeOfDay, values }: Summary): boolean => !hasTimeOfDay && values >= accidentMax;

const timeOf = (all: number): TimePattern | undefined =>
  timePatterns.find((pattern) => (all & timeBit(pattern)) !== 0);

const decideDateAndTime = (
  summary: Summary,
  dates: readonly DatePattern[],
): TypeChoice | Doubt | undefined => {
  const { all, examples } = summary;
  const [date, other] = dates;
  const time = timeOf(all);
  if (date === undefined || time === undefined) return undefined;
  if (other !== undefined) return doubtOf(dates, (one) => decideDateAndTime(summary, [one]));
  const isDate = isMidnight(summary);
  const choice = mostFaithful(
    examples,
    widthsOf(date).flatMap((day) =>
      widthsOf(time).map((clock) => ({
        type: isDate ? ('date' as const) : ('timestamp' as const),
        options: { format: `${day} ${clock}` },
      })),
    ),
  );
  return isDate ? { ...choice, range: 'always at midnight' } : choice;
};

export const decideMoment = (summary: Summary): TypeChoice | Doubt | undefined => {
  const { all } = summary;
  if ((all & bit.timestamptz) !== 0) return decideIso('timestamptz', summary);
  const dates = datePatterns.filter((pattern) => (all & dateBit(pattern)) !== 0);
  const isDate = isMidnight(summary) && (all & bit.dateAndTime) !== 0 && timeOf(all) !== undefined;
  if ((all & bit.isoTimestamp) !== 0 && !isDate) return decideIso('timestamp', summary);
  if ((all & bit.dateAlone) !== 0) return decideDate(summary, dates);
  if ((all & bit.dateAndTime) !== 0) return decideDateAndTime(summary, dates);
  return decideTime(summary);
};
