// Decides the type of a column of numbers, or that digits are codes.

import { formatCount } from '../../core/wording.ts';
import { bit } from './candidates.ts';
import type { Doubt, Summary, TypeChoice } from './contract.ts';
import { allTexts, changedBy } from './losses.ts';

const integerMax = 2 ** 31 - 1;

const spareDigits = 2;

/** Names of columns that probably have codes, which may begin with 0 in the next file. */
const codeNames = /zip|postal|postcode|phone|fax|isbn|iban|\bean\b|\bssn\b|fips/i;
const versionNames = /version|release/i;

const rangeOf = ({ least, most }: Summary): string | undefined => {
  if (!Number.isFinite(least)) return undefined;
  return least === most ? `always ${formatNumber(least)}` : `${formatNumber(least)} to ${formatNumber(most)}`;
};

/** A number beyond the exact ones of JavaScript is rounded visibly: about 9.22e+18. */
const formatNumber = (value: number): string => {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return `about ${value.toExponential(2)}`;
  return Number.isInteger(value) && Math.abs(value) >= 10_000
    ? `${value < 0 ? '-' : ''}${formatCount(Math.abs(value))}`
    : String(value);
};

type Options = Readonly<Record<string, unknown>>;

const choiceOf = (type: TypeChoice['type'], options: Options, summary: Summary): TypeChoice => {
  const isOneToOne = changedBy({ type, options }, summary.examples)?.length === 0;
  const range = rangeOf(summary);
  return { type, options, isOneToOne, ...(range === undefined ? {} : { range }) };
};

const decideWhole = (summary: Summary, options: Options = {}): TypeChoice => {
  const size = Math.max(-summary.least - 1, summary.most);
  return choiceOf(size <= integerMax ? 'integer' : 'bigint', options, summary);
};

/** A scale is declared only if every text has it; the server keeps the decimals of each value otherwise. */
const decideDecimal = (summary: Summary, spelling: Options = {}): TypeChoice => {
  const { integers, decimals, decimalsMin } = summary;
  const isOneScale = decimals > 0 && decimals === decimalsMin;
  const size = isOneScale
    ? { precision: Math.max(1, integers) + spareDigits + decimals, scale: decimals }
    : {};
  return choiceOf('numeric', { ...size, ...spelling }, summary);
};

/** Numbers with separators have no range, and no scale: what a point means depends on the others. */
const decideGroups = (thousands: string, { examples }: Summary): TypeChoice => {
  const options = thousands === '.' ? { thousands, decimal: ',' } : { thousands };
  return {
    type: 'numeric',
    options,
    isOneToOne: changedBy({ type: 'numeric', options }, examples)?.length === 0,
  };
};

const decideZeros = (summary: Summary): TypeChoice =>
  Math.max(-summary.least, summary.most) < 2 ** 63 ? decideWhole(summary) : decideDecimal(summary);

const codes = (what: string, choice: TypeChoice): Doubt => ({
  doubt: `${what}: kept as text`,
  alternatives: [{ label: 'numbers', choice }],
});

/** True if 1.10 and 1.1 both occur: as numbers they are equal, as versions they are not. */
const hasEqualNumbers = (summary: Summary): boolean => {
  const texts = new Set(allTexts(summary).map(({ text }) => text));
  return [...texts].some((text) => {
    const short = text.replace(/([.,]\d*?)0+$/, '$1').replace(/[.,]$/, '');
    return short !== text && texts.has(short);
  });
};

const decideDouble = (summary: Summary): TypeChoice | Doubt => {
  const { groups } = summary;
  const decimal = choiceOf('numeric', {}, summary);
  const isCode = groups.every(({ forms }) =>
    Array.from(forms.values()).every(({ text }) => /^\d+e\d+$/i.test(text)),
  );
  if (isCode) return codes('digits around an E, as codes have', decimal);
  return groups.some(({ isInexact }) => isInexact) ? decimal : choiceOf('double', {}, summary);
};

const decideGrouped = (summary: Summary): TypeChoice | Doubt | undefined => {
  const { all } = summary;
  const isGrouped = (all & bit.grouped) !== 0;
  if (isGrouped && (all & bit.comma) !== 0)
    return {
      doubt:
        "1,234 may be a thousand, or a decimal comma: kept as text; declare `thousands: ','` or `decimal: ','`",
      alternatives: [
        { label: 'numbers with , between thousands', choice: decideGroups(',', summary) },
        { label: 'numbers with a decimal comma', choice: decideDecimal(summary, { decimal: ',' }) },
      ],
    };
  if (isGrouped) return decideGroups(',', summary);
  return (all & bit.groupedByPoint) === 0 ? undefined : decideGroups('.', summary);
};

export const decideNumber = (summary: Summary): TypeChoice | Doubt | undefined => {
  const { all, name, examples } = summary;
  if ((all & bit.whole) !== 0) {
    const choice = decideWhole(summary);
    if (codeNames.test(name)) return codes('whole numbers, and codes by their name', choice);
    const hasPlus = examples.some(({ text }) => text.startsWith('+'));
    return hasPlus ? codes('whole numbers with plus signs', choice) : choice;
  }
  if ((all & bit.decimal) !== 0) {
    const choice = decideDecimal(summary);
    if (versionNames.test(name)) return codes('numbers, and versions by their name', choice);
    return hasEqualNumbers(summary)
      ? codes('numbers of which some differ only in zeros at their end, as versions do', choice)
      : choice;
  }
  if ((all & bit.float) !== 0) return decideDouble(summary);
  if ((all & bit.comma) !== 0 && (all & bit.grouped) === 0) return decideDecimal(summary, { decimal: ',' });
  if ((all & bit.zeros) !== 0) return codes('whole numbers, some with leading zeros', decideZeros(summary));
  return decideGrouped(summary);
};
