// Decides the type of a column of numbers, with room for larger values in later files.

import { formatCount } from '../../core/wording.ts';
import { bit } from './candidates.ts';
import type { Alternative, Doubt, Summary, TypeChoice } from './contract.ts';

/** `most` is a tenth of the type's range, because later files may have larger numbers. */
const wholeTypes = [
  { type: 'smallint', most: 3_276 },
  { type: 'integer', most: 214_748_364 },
] as const;

const spareDigits = 2;

/** Names of columns that probably have codes, which may begin with 0 in the next file. */
const codeNames = /zip|postal|postcode|phone|fax|isbn|iban|\bean\b|\bssn\b|fips/i;

const rangeOf = ({ least, most }: Summary): string =>
  least === most ? `always ${least}` : `${formatNumber(least)} to ${formatNumber(most)}`;

const formatNumber = (value: number): string =>
  Number.isSafeInteger(value) && Math.abs(value) >= 10_000
    ? `${value < 0 ? '-' : ''}${formatCount(Math.abs(value))}`
    : String(value);

const decideWhole = (summary: Summary): TypeChoice => {
  const size = Math.max(Math.abs(summary.least), Math.abs(summary.most));
  const type = wholeTypes.find(({ most }) => size <= most)?.type ?? 'bigint';
  return { type, options: {}, range: rangeOf(summary), isOneToOne: !summary.hasPlus };
};

const decideDecimal = (summary: Summary, spelling: Readonly<Record<string, string>>): TypeChoice => {
  const { integers, decimals } = summary;
  const size =
    decimals === 0 ? {} : { precision: Math.max(1, integers) + spareDigits + decimals, scale: decimals };
  return { type: 'numeric', options: { ...size, ...spelling }, range: rangeOf(summary), isOneToOne: false };
};

const decideZeros = (summary: Summary): TypeChoice =>
  Math.max(Math.abs(summary.least), Math.abs(summary.most)) < 2 ** 63
    ? decideWhole(summary)
    : decideDecimal(summary, {});

const thousands = (spelling: Readonly<Record<string, string>>): Alternative => ({
  label: `numbers with ${spelling['thousands']} between thousands`,
  choice: { type: 'numeric', options: spelling, isOneToOne: false },
});

/** Returns a doubt for numbers with ambiguous separators or leading zeros. */
const doubtOf = (summary: Summary): Doubt | undefined => {
  const { all } = summary;
  if ((all & bit.zeros) !== 0)
    return {
      doubt: 'whole numbers, some with leading zeros: kept as text, as codes are',
      alternatives: [{ label: 'numbers', choice: decideZeros(summary) }],
    };
  const isGrouped = (all & bit.grouped) !== 0;
  if (isGrouped && (all & bit.comma) !== 0)
    return {
      doubt:
        "1,234 may be a thousand, or a decimal comma: kept as text; declare `thousands: ','` or `decimal: ','`",
      alternatives: [
        thousands({ thousands: ',' }),
        { label: 'numbers with a decimal comma', choice: decideDecimal(summary, { decimal: ',' }) },
      ],
    };
  if (isGrouped)
    return {
      doubt:
        "numbers with a thousands separator: kept as text; `column.numeric(…, { thousands: ',' })` reads them",
      alternatives: [thousands({ thousands: ',' })],
    };
  if ((all & bit.groupedByPoint) !== 0)
    return {
      doubt:
        "numbers with a thousands separator: kept as text; `column.numeric(…, { thousands: '.', decimal: ',' })` reads them",
      alternatives: [thousands({ thousands: '.', decimal: ',' })],
    };
  return undefined;
};

export const decideNumber = (summary: Summary): TypeChoice | Doubt | undefined => {
  const { all, name } = summary;
  if ((all & bit.whole) !== 0) {
    const choice = decideWhole(summary);
    return codeNames.test(name)
      ? {
          doubt: 'whole numbers, and codes by their name: kept as text',
          alternatives: [{ label: 'numbers', choice }],
        }
      : choice;
  }
  if ((all & bit.decimal) !== 0) return decideDecimal(summary, {});
  if ((all & bit.float) !== 0) return { type: 'double', options: {}, isOneToOne: false };
  if ((all & bit.comma) !== 0 && (all & bit.grouped) === 0) return decideDecimal(summary, { decimal: ',' });
  return doubtOf(summary);
};
