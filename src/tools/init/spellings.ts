// Spellings of numbers and dates that are no candidate (candidates.ts): each is read with options, or
// remarked on with the declaration that reads it.

import type { TypeChoice } from './contract.ts';
import { shownText } from '../shown-text.ts';
import { writeBack } from '../write-back.ts';

interface Spelling {
  /** True of every value, and `ofSome` of at least one value. */
  readonly matches: (text: string) => boolean;
  readonly ofSome: RegExp;
  readonly choice?: TypeChoice;
  /** Why the column is text although `choice` fits, or the declaration that reads the values. */
  readonly remark?: string;
}

/** Numbers that are written back as they are: every number of four digits has a separator. */
const grouped = (ofSome: RegExp, options: Readonly<Record<string, unknown>>, remark?: string): Spelling => {
  const choice = { type: 'numeric', options, isOneToOne: true } as const;
  const back = writeBack(choice);
  const matches = (text: string): boolean => /\d$/.test(text) && back(text) === text;
  return { matches, ofSome, choice, ...(remark && { remark }) };
};

const groupedBy = (thousands: string, remark?: string): readonly Spelling[] =>
  [{ thousands }, { thousands, decimal: ',' }].map((options) =>
    grouped(new RegExp(thousands), options, remark),
  );

const blanks = 'numbers with a blank between thousands, or codes: kept as text';

const kept = (pattern: RegExp, what: string, reads: string, ofSome = pattern): Spelling => ({
  matches: (text) => pattern.test(text),
  remark: `${what}: kept as text; ${reads}`,
  ofSome,
});

const spellings: readonly Spelling[] = [
  ...["'", '\u2019', '\u00a0', '\u202f'].flatMap((one) => groupedBy(one)),
  ...groupedBy(' ', blanks),
  grouped(/\d,\d\d,/, { thousands: ',', grouping: 'indian' }),
  kept(
    /^[-(]?\s?(?:[$€£¥]\s?[\d.,]+|[\d.,]+\s?[$€£¥])\)?$/,
    'amounts of money',
    '`column.numeric(…).map(…)` reads them without their sign',
  ),
  kept(/^[-+]?[\d.,]+\s?%$/, 'percentages', "`column.numeric(…, { percent: 'number' })` reads them"),
  kept(
    /^(?:[-+]?[\d.,]+|\([\d.,]+\))$/,
    'negative numbers in parentheses',
    "`column.numeric(…).map((text) => text.replace(/^\\((.*)\\)$/, '-$1'))` reads them",
    /^\(/,
  ),
  kept(
    /^\d[\d.,]*-?$/,
    'numbers with a minus at the end',
    "`column.numeric(…).map((text) => text.replace(/^(.*)-$/, '-$1'))` reads them",
    /-$/,
  ),
  kept(
    /^\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})$/,
    'dates with years of two digits, some with four',
    "`column.date(…, { format: ['D/M/YYYY', 'D/M/YY'] })`, with their order and separator, reads them",
    /\D\d{2}$/,
  ),
  kept(
    /^\p{L}{3,9}\.? \d{1,2},? \d{4}$/u,
    'dates with the name of the month first',
    "`column.date(…, { format: 'MMM D YYYY' }).map((text) => text.replace(/^(...)\\S* (\\d+),? /, '$1 $2 '))` reads English names",
  ),
  kept(
    /^\d{1,2}\.? \p{L}{3,9}\.?,? \d{4}$/u,
    'dates with the name of the month in the middle',
    "`column.date(…, { format: 'D MMM YYYY' }).map((text) => text.replace(/^(\\d+)\\.? (...)\\S* /, '$1 $2 '))` reads English names",
  ),
  kept(
    /^(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?$/,
    'times with more than six decimals of a second, which the server does not keep',
    '`round: true` rounds them',
    /\.\d{6}\d*[1-9]/,
  ),
  kept(
    /^[-+]?\d+(?:[.,]\d*)?$/,
    'numbers, some with leading zeros',
    '`--type column=numeric` reads them without',
    /^[-+]?0\d/,
  ),
];

/** Every spelling. Each has a bit. */
export const allSpellings = 2 ** spellings.length - 1;

/** Returns which of the spellings in `alive` match the text, and which of them it can prove. */
export const spellingsOf = (text: string, alive: number): { readonly all: number; readonly some: number } => {
  let [all, some] = [0, 0];
  for (const [index, { matches, ofSome }] of spellings.entries()) {
    const own = 1 << index;
    if ((alive & own) === 0 || !matches(text)) continue;
    all |= own;
    if (ofSome.test(text)) some |= own;
  }
  return { all, some };
};

export interface Spelled {
  readonly choice: TypeChoice | undefined;
  readonly remark: string | undefined;
}

/** Returns the first spelling that matches every value and that some value proves. */
export const spelledAs = (mask: number, first: string): Spelled | undefined => {
  const found = spellings.find((_, index) => (mask & (1 << index)) !== 0);
  if (found === undefined) return undefined;
  const { choice, remark } = found;
  return { choice, remark: remark === undefined ? undefined : `${shownText(first)}: ${remark}` };
};

/** The first four are read as booleans without a question. */
export const booleanWords = [
  ['true', 'false'],
  ['t', 'f'],
  ['yes', 'no'],
  ['y', 'n'],
  ['ja', 'nein'],
  ['oui', 'non'],
  ['si', 'no'],
  ['sí', 'no'],
  ['sim', 'não'],
  ['wahr', 'falsch'],
  ['vrai', 'faux'],
  ['да', 'нет'],
  ['on', 'off'],
] as const;

/** Returns a remark about texts that may be yes and no. `others`: null words beside them. */
export const booleanRemark = (texts: readonly string[], others: readonly string[]): string | undefined => {
  const words = [...new Set(texts.map((text) => text.toLowerCase()))];
  const pair = booleanWords.find((one) => one.every((word) => words.includes(word)));
  if (pair === undefined || words.length > 2) return undefined;
  const [yes, no] = pair.map((word) =>
    texts
      .filter((text) => text.toLowerCase() === word)
      .map(shownText)
      .join(', '),
  );
  const beside = others.length === 0 ? '' : `, beside ${others.map(shownText).join(', ')}`;
  return `only ${yes} and ${no}${beside}: kept as text; \`column.boolean(…, { true: [${yes}], false: [${no}] })\` reads them`;
};
