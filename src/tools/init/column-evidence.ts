// Collects evidence about the type of a column, in bounded memory.
//
// A candidate is a type with a format (candidates.ts). Texts that the same candidates accept form a
// group. More than eight different texts cannot all be null tokens, so they exclude every candidate
// that does not accept them. Counts are exact.

import { trimBlanks } from '../../format/records/blanks.ts';
import { emptyShape, scanDecimal } from '../../format/types/number-text.ts';
import { anyCandidate, bit, candidatesOf } from './candidates.ts';
import type { Group } from './contract.ts';
import { nullWords } from './null-words.ts';
import type { TextCache } from './text-cache.ts';
import { usualOf, type Usual } from './usual-values.ts';

export const counterOf = { empty: 0, blank: 1, text: 2 } as const;

/** Number of different texts that a group stores: enough for a boolean's words and examples. */
const textsKeptMax = 8;

export interface ColumnEvidence {
  readonly counters: number[];
  readonly groups: Map<number, Group>;
  readonly words: Map<string, number>;
  alive: number;
  isPadded: boolean;
  usual: Usual | undefined;
  cache: TextCache | undefined;
  /** Counters plus 1 of texts of one byte; at index 0: of the empty text. */
  readonly singles: Int32Array;
  readonly byText: Map<string, number>;
}

export const createColumnEvidence = (): ColumnEvidence => ({
  counters: [0, 0, 0],
  groups: new Map(),
  words: new Map(),
  alive: anyCandidate,
  isPadded: false,
  usual: undefined,
  cache: undefined,
  singles: new Int32Array(256),
  byText: new Map(),
});

const newCounter = ({ counters }: ColumnEvidence): number => counters.push(0) - 1;

const newGroup = (column: ColumnEvidence, mask: number): Group => ({
  mask,
  counter: newCounter(column),
  texts: new Map(),
  isFull: false,
  least: Infinity,
  most: -Infinity,
  integers: 0,
  decimals: 0,
  lengthMin: Infinity,
  lengthMax: 0,
  dateMin: Infinity,
  dateMax: 0,
  hasTimeOfDay: false,
  hasUpperCase: false,
  hasLowerCase: false,
  hasPlus: false,
});

const shape = emptyShape();
const numbers = bit.whole | bit.zeros | bit.decimal | bit.comma | bit.float;

const widenNumber = (group: Group, text: string): void => {
  const plain = (group.mask & (bit.whole | bit.decimal)) === 0 ? text.replace(',', '.') : text;
  if (!scanDecimal(plain, shape)) return;
  const value = Number(plain);
  group.least = Math.min(group.least, value);
  group.most = Math.max(group.most, value);
  const zeros = shape.firstNonzero === -1 ? shape.digits : shape.firstNonzero;
  group.integers = Math.max(group.integers, shape.integerDigits - Math.min(zeros, shape.integerDigits));
  group.decimals = Math.max(group.decimals, shape.digits - shape.integerDigits);
  group.hasPlus ||= text.startsWith('+') || text.startsWith('-0');
};

const widen = (group: Group, text: string): void => {
  const { mask } = group;
  group.lengthMin = Math.min(group.lengthMin, text.length);
  group.lengthMax = Math.max(group.lengthMax, text.length);
  if ((mask & numbers) !== 0) widenNumber(group, text);
  if ((mask & (bit.dateAndTime | bit.isoTimestamp)) !== 0) {
    const date = text.search(/[T ]/);
    group.dateMin = Math.min(group.dateMin, date);
    group.dateMax = Math.max(group.dateMax, date);
    group.hasTimeOfDay ||= !/^[0:.]*$/.test(text.slice(date + 1));
  }
  if ((mask & bit.uuid) !== 0) {
    group.hasUpperCase ||= /[A-F]/.test(text);
    group.hasLowerCase ||= /[a-f]/.test(text);
  }
};

/** Returns the text's counter. If the group is full, excludes candidates outside its mask. */
const countedBy = (column: ColumnEvidence, group: Group, text: string): number => {
  const known = group.texts.get(text);
  if (known !== undefined) return known;
  if (group.texts.size === textsKeptMax) {
    group.isFull = true;
    column.alive = group.mask;
    if (column.usual?.group !== group) column.usual = usualOf(group);
    return group.counter;
  }
  const counter = newCounter(column);
  group.texts.set(text, counter);
  return counter;
};

const classify = (column: ColumnEvidence, field: string): number => {
  const text = trimBlanks(field);
  if (text === '') return field === '' ? counterOf.empty : counterOf.blank;
  if (nullWords.has(text)) {
    const known = column.words.get(text) ?? newCounter(column);
    column.words.set(text, known);
    return known;
  }
  const mask = column.alive === 0 ? 0 : candidatesOf(text, column.alive);
  if (text.length !== field.length && mask !== 0) column.isPadded = true;
  if (column.alive === 0) return counterOf.text;
  const group = column.groups.get(mask) ?? newGroup(column, mask);
  column.groups.set(mask, group);
  widen(group, text);
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
