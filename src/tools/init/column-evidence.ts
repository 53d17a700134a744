// Collects evidence about the type of a column, in bounded memory.
//
// A candidate is a type with a format (candidates.ts). Texts that the same candidates accept form a
// group. More than eight different texts cannot all be null tokens, so they exclude every candidate
// that does not accept them. Counts are exact.

import { trimBlanks } from '../../format/records/blanks.ts';
import { emptyShape, scanDecimal } from '../../format/types/number-text.ts';
import { anyCandidate, bit, candidatesOf } from './candidates.ts';
import type { Group, Word } from './contract.ts';
import { formOf } from './forms.ts';
import type { Example } from '../loss.ts';
import { nullWords } from './null-words.ts';
import { allSpellings, spellingsOf } from './spellings.ts';
import { writeBack } from '../write-back.ts';
import type { TextCache } from './text-cache.ts';
import { usualOf, type Usual } from './usual-values.ts';

export const counterOf = { empty: 0, blank: 1, text: 2 } as const;

const asDouble = writeBack({ type: 'double', options: {} });

/** Number of different texts that a group stores: enough for a boolean's words and examples. */
const textsKeptMax = 8;

/** Numbers and dates of one column have far fewer forms. */
export const formsMax = 512;

/** Where the text is that is classified. */
export interface Where {
  file: string;
  record: number;
  lineOf: (record: number) => number;
}

export const createWhere = (): Where => ({ file: '', record: 0, lineOf: () => 0 });

export interface ColumnEvidence {
  readonly where: Where;
  readonly nulls: ReadonlySet<string>;
  readonly counters: number[];
  readonly groups: Map<number, Group>;
  readonly words: Map<string, Word>;
  /** Different texts of blanks alone. With more than `textsKeptMax`, the others are not listed. */
  readonly blanks: Map<string, Example>;
  /** The first text with blanks around it. */
  padded: Example | undefined;
  alive: number;
  spellings: number;
  someSpellings: number;
  /** True if every candidate and spelling is excluded: the column is text. */
  isText: boolean;
  usual: Usual | undefined;
  cache: TextCache | undefined;
  /** Counters plus 1 of texts of one byte; at index 0: of the empty text. */
  readonly singles: Int32Array;
  readonly byText: Map<string, number>;
}

export const createColumnEvidence = (
  where: Where = createWhere(),
  nulls: ReadonlySet<string> = nullWords,
): ColumnEvidence => ({
  where,
  nulls,
  counters: [0, 0, 0],
  groups: new Map(),
  words: new Map(),
  blanks: new Map(),
  padded: undefined,
  alive: anyCandidate,
  spellings: allSpellings,
  someSpellings: 0,
  isText: false,
  usual: undefined,
  cache: undefined,
  singles: new Int32Array(256),
  byText: new Map(),
});

const newCounter = ({ counters }: ColumnEvidence): number => counters.push(0) - 1;

const exampleOf = ({ where }: ColumnEvidence, text: string): Example => ({
  text,
  file: where.file,
  line: where.lineOf(where.record),
});

const newGroup = (column: ColumnEvidence, mask: number): Group => ({
  mask,
  counter: newCounter(column),
  texts: new Map(),
  isFull: false,
  forms: new Map(),
  isOfDoubles: (mask & (bit.float | bit.decimal)) === bit.float,
  least: Infinity,
  most: -Infinity,
  integers: 0,
  decimals: 0,
  decimalsMin: Infinity,
  hasTimeOfDay: false,
  hasExponent: false,
  isInexact: false,
  changedByDouble: undefined,
});

const shape = emptyShape();
const numbers =
  bit.whole | bit.zeros | bit.decimal | bit.comma | bit.float | bit.grouped | bit.groupedByPoint;
const points = bit.whole | bit.decimal | bit.float;

/** The number with a decimal point and without separators, however the file writes it. */
const plainOf = (mask: number, text: string): string => {
  if ((mask & points) !== 0) return text;
  if ((mask & bit.comma) !== 0) return text.replace(',', '.');
  return (mask & bit.grouped) !== 0 ? text.replaceAll(',', '') : text.replaceAll('.', '').replace(',', '.');
};

/** Numbers of so many digits are exact as doubles. */
const exactDigits = 15;

/** True if a double may round the number: it has other digits when it is written again. */
const isRounded = (value: number, text: string): boolean => {
  const digitsOf = (number: string): string =>
    number
      .replace(/e.*$/i, '')
      .replace(/[-+.]/g, '')
      .replace(/^0+|0+$/g, '');
  return digitsOf(value.toExponential()) !== digitsOf(text);
};

const widenNumber = (group: Group, text: string): void => {
  const plain = plainOf(group.mask, text);
  if (!scanDecimal(plain, shape)) return;
  const value = Number(plain);
  group.least = Math.min(group.least, value);
  group.most = Math.max(group.most, value);
  const zeros = shape.firstNonzero === -1 ? shape.digits : shape.firstNonzero;
  const decimals = shape.digits - shape.integerDigits;
  group.integers = Math.max(group.integers, shape.integerDigits - Math.min(zeros, shape.integerDigits));
  group.decimals = Math.max(group.decimals, decimals);
  group.decimalsMin = Math.min(group.decimalsMin, decimals);
  group.hasExponent ||= /e/i.test(plain);
  group.isInexact ||= shape.exponent === 0 ? shape.digits - zeros > exactDigits : isRounded(value, plain);
};

const widen = (group: Group, text: string): void => {
  const { mask } = group;
  if ((mask & numbers) !== 0) widenNumber(group, text);
  if ((mask & (bit.dateAndTime | bit.isoTimestamp)) !== 0)
    group.hasTimeOfDay ||= !/^[0:.]*$/.test(text.slice(text.search(/[T ]/) + 1));
};

/** Returns the text's counter. If the group is full, excludes candidates outside its mask. */
const countedBy = (column: ColumnEvidence, group: Group, text: string): number => {
  const known = group.texts.get(text);
  if (known !== undefined) return known.counter;
  if (group.texts.size === textsKeptMax) {
    group.isFull = true;
    column.alive = group.mask;
    if (column.usual?.group !== group) column.usual = usualOf(group);
    return group.counter;
  }
  return counterIn(column, group.texts, text);
};

const counterIn = (column: ColumnEvidence, texts: Map<string, Word>, text: string): number => {
  const known = texts.get(text);
  if (known !== undefined) return known.counter;
  const counter = newCounter(column);
  texts.set(text, { counter, example: exampleOf(column, text) });
  return counter;
};

const classify = (column: ColumnEvidence, field: string): number => {
  if (field === '') return counterOf.empty;
  const text = trimBlanks(field);
  if (text === '') {
    if (column.blanks.size <= textsKeptMax && !column.blanks.has(field))
      column.blanks.set(field, exampleOf(column, field));
    return counterOf.blank;
  }
  if (text.length !== field.length) column.padded ??= exampleOf(column, field);
  if (column.nulls.has(text)) return counterIn(column, column.words, text);
  if (column.spellings !== 0) {
    const own = spellingsOf(text, column.spellings);
    column.spellings &= own.all;
    column.someSpellings |= own.some;
  }
  column.isText = column.alive === 0 && column.spellings === 0;
  if (column.alive === 0) return counterOf.text;
  const mask = candidatesOf(text, column.alive);
  const group = column.groups.get(mask) ?? newGroup(column, mask);
  column.groups.set(mask, group);
  if (mask !== 0) {
    widen(group, text);
    const form = formOf(text, mask);
    if (group.forms.size < formsMax && !group.forms.has(form)) group.forms.set(form, exampleOf(column, text));
    if (group.isOfDoubles && group.changedByDouble === undefined && asDouble(text) !== text)
      group.changedByDouble = exampleOf(column, text);
  }
  return countedBy(column, group, text);
};

const textsCachedMax = 512;
const textCharsMax = 40;

export const observeText = (column: ColumnEvidence, field: string): void => {
  const { byText, counters } = column;
  let counter = byText.get(field);
  if (counter === undefined) {
    counter = classify(column, field);
    if (byText.size === textsCachedMax) byText.clear();
    if (field.length <= textCharsMax) byText.set(field, counter);
  }
  counters[counter]! += 1;
};

export const observeBytes = (column: ColumnEvidence, bytes: Buffer, from: number, to: number): number => {
  const counter = classify(column, bytes.toString('utf8', from, to));
  column.counters[counter]! += 1;
  return counter;
};
