// Finds the column types and formats that accept a text, as a mask of bits.

import { isRefusal, type Reader } from '../../format/types/contract.ts';
import { columnTypes } from '../../format/types/registry.ts';

/** Bits of the mask: a text has the bits of the types and formats whose readers accept the text. */
export const bit = {
  whole: 1,
  zeros: 1 << 1,
  decimal: 1 << 2,
  float: 1 << 3,
  /** Decimal comma: 1,5. */
  comma: 1 << 4,
  /** 1,234.5 (grouped) and 1.234,5 (groupedByPoint). */
  grouped: 1 << 5,
  groupedByPoint: 1 << 6,
  uuid: 1 << 7,
  json: 1 << 8,
  isoTimestamp: 1 << 9,
  firstDate: 1 << 10,
  firstTime: 1 << 22,
  isoTime: 1 << 27,
  /** Bits of texts that are a date, a time, or a date and a time with a blank between them. */
  dateAlone: 1 << 28,
  timeAlone: 1 << 29,
  dateAndTime: 1 << 30,
  timestamptz: 1 << 31,
} as const;

export const anyCandidate = -1;

const firstDatePlace = 10;
const firstTimePlace = 22;

export const datePatterns = [
  'YYYY-MM-DD',
  'YYYYMMDD',
  'YYYY/MM/DD',
  'D/M/YYYY',
  'M/D/YYYY',
  'D.M.YYYY',
  'D-M-YYYY',
  'D-MMM-YYYY',
  'D-MMM-YY',
  'D/M/YY',
  'M/D/YY',
  'YY/M/D',
] as const;
export type DatePattern = (typeof datePatterns)[number];

export const timePatterns = ['H:mm', 'H:mm:ss', 'h:mm A', 'h:mm:ss A', 'HHmm'] as const;
export type TimePattern = (typeof timePatterns)[number];

export const dateBit = (pattern: DatePattern): number =>
  1 << (firstDatePlace + datePatterns.indexOf(pattern));
export const timeBit = (pattern: TimePattern): number =>
  1 << (firstTimePlace + timePatterns.indexOf(pattern));

/** A reader is called only for texts with its shape, because calls take time. */
interface Shape {
  readonly shape: RegExp;
  readonly readers: readonly (readonly [bit: number, read: Reader])[];
}

const shapeOf = (shape: RegExp, ...readers: readonly (readonly [number, Reader])[]): Shape => ({
  shape,
  readers,
});

const dateReader = (pattern: DatePattern): readonly [number, Reader] => [
  dateBit(pattern),
  columnTypes.date.reader({ format: pattern }),
];
const timeReader = (pattern: TimePattern): readonly [number, Reader] => [
  timeBit(pattern),
  columnTypes.time.reader({ format: pattern }),
];

const dateShapes: readonly Shape[] = [
  shapeOf(/^\d{4}-\d\d-\d\d$/, dateReader('YYYY-MM-DD')),
  // Eight digits that do not begin with 19 or 20 are probably not a date.
  shapeOf(/^(?:19|20)\d{6}$/, dateReader('YYYYMMDD')),
  shapeOf(/^\d{4}\/\d\d\/\d\d$/, dateReader('YYYY/MM/DD')),
  shapeOf(/^\d\d?\/\d\d?\/\d{4}$/, dateReader('D/M/YYYY'), dateReader('M/D/YYYY')),
  shapeOf(/^\d\d?\.\d\d?\.\d{4}$/, dateReader('D.M.YYYY')),
  shapeOf(/^\d\d?-\d\d?-\d{4}$/, dateReader('D-M-YYYY')),
  shapeOf(/^\d\d?-[a-z]{3}-\d{4}$/i, dateReader('D-MMM-YYYY')),
  shapeOf(/^\d\d?-[a-z]{3}-\d\d$/i, dateReader('D-MMM-YY')),
  shapeOf(/^\d\d?\/\d\d?\/\d\d$/, dateReader('D/M/YY'), dateReader('M/D/YY'), dateReader('YY/M/D')),
];

const timeShapes: readonly Shape[] = [
  shapeOf(/^\d\d?:\d\d$/, timeReader('H:mm'), [bit.isoTime, columnTypes.time.reader({})]),
  shapeOf(/^\d\d?:\d\d:\d\d$/, timeReader('H:mm:ss'), [bit.isoTime, columnTypes.time.reader({})]),
  shapeOf(/^\d\d:\d\d:\d\d\.\d+$/, [bit.isoTime, columnTypes.time.reader({})]),
  shapeOf(/^\d\d?:\d\d [ap]m$/i, timeReader('h:mm A')),
  shapeOf(/^\d\d?:\d\d:\d\d [ap]m$/i, timeReader('h:mm:ss A')),
  shapeOf(/^\d{4}$/, timeReader('HHmm')),
];

const decimalReader = columnTypes.numeric.reader({});
const groupedReader = columnTypes.numeric.reader({ thousands: ',' });
const groupedByPointReader = columnTypes.numeric.reader({ thousands: '.', decimal: ',' });

const numberShapes: readonly Shape[] = [
  shapeOf(
    /^[+-]?(?:0|[1-9]\d*)$/,
    [bit.whole, columnTypes.bigint.reader({})],
    [bit.zeros | bit.decimal | bit.comma | bit.grouped | bit.groupedByPoint, decimalReader],
    [bit.float, columnTypes.double.reader({})],
  ),
  shapeOf(/^[+-]?0\d+$/, [bit.zeros, decimalReader]),
  shapeOf(
    /^[+-]?(?:\d+\.\d*|\.\d+)$/,
    [bit.decimal, decimalReader],
    [bit.float, columnTypes.double.reader({})],
    [bit.grouped, groupedReader],
    [bit.groupedByPoint, groupedByPointReader],
  ),
  shapeOf(/^[+-]?(?:\d+\.?\d*|\.\d+)e[+-]?\d+$/i, [bit.float, columnTypes.double.reader({})]),
  shapeOf(
    /^[+-]?\d[\d.]*,[\d,.]+$/,
    [bit.comma, columnTypes.numeric.reader({ decimal: ',' })],
    [bit.grouped, groupedReader],
    [bit.groupedByPoint, groupedByPointReader],
  ),
  shapeOf(/^[+-]?\d{1,3}(?:\.\d{3}){2,}$/, [bit.groupedByPoint, groupedByPointReader]),
];

const otherShapes: readonly Shape[] = [
  shapeOf(/^\{?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\}?$/i, [
    bit.uuid,
    columnTypes.uuid.reader({}),
  ]),
  shapeOf(/^(?:\{.*\}|\[.*\])$/s, [bit.json, columnTypes.jsonb.reader({})]),
];

const momentShape = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const offsetShape = /(?:Z|[+-]\d\d(?::\d\d)?)$/;
const isoTimestampReader = columnTypes.timestamp.reader({});
const timestamptzReader = columnTypes.timestamptz.reader({});

const takes = (read: Reader, text: string): boolean => !isRefusal(read(text));

const bitsOf = (shapes: readonly Shape[], text: string, alive: number): number => {
  let found = 0;
  for (const { shape, readers } of shapes) {
    if (!readers.some(([bits]) => (bits & alive) !== 0) || !shape.test(text)) continue;
    for (const [bits, read] of readers) if ((bits & alive) !== 0 && takes(read, text)) found |= bits;
  }
  return found & alive;
};

const momentBits = (text: string, alive: number): number => {
  const blank = text.indexOf(' ');
  let found = 0;
  if (momentShape.test(text)) {
    if (offsetShape.test(text)) return takes(timestamptzReader, text) ? bit.timestamptz : 0;
    if (takes(isoTimestampReader, text)) found |= bit.isoTimestamp;
  }
  if (blank === -1 || (alive & bit.dateAndTime) === 0) return found;
  const dates = bitsOf(dateShapes, text.slice(0, blank), alive);
  const times = dates === 0 ? 0 : bitsOf(timeShapes, text.slice(blank + 1), alive);
  return times === 0 ? found : found | dates | times | bit.dateAndTime;
};

const digitFirst = /^[\d.+-]/;
const digitInside = /\d/;

/** Returns the candidates in `alive` that accept the text, which is trimmed and not empty. */
export const candidatesOf = (text: string, alive: number = anyCandidate): number => {
  if (!digitInside.test(text) && !/^[[{]/.test(text)) return 0;
  let found = bitsOf(otherShapes, text, alive);
  if (!digitFirst.test(text)) return found & alive;
  found |= bitsOf(numberShapes, text, alive);
  const dates = bitsOf(dateShapes, text, alive);
  if (dates !== 0) found |= dates | bit.dateAlone;
  const times = bitsOf(timeShapes, text, alive);
  if (times !== 0) found |= times | bit.timeAlone;
  return (found | momentBits(text, alive)) & alive;
};
