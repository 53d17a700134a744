// Decides if the first record of a file is a header, and makes column names of field names.

import { trimBlanks } from '../../format/records/blanks.ts';
import { columnNameProblem } from '../../pipeline/names.ts';
import { anyCandidate, candidatesOf } from './candidates.ts';
import type { ColumnEvidence } from './column-evidence.ts';
import { nullWords } from './null-words.ts';

const isNumber = (field: string): boolean => /^\d+$/.test(field);
const isYear = (field: string): boolean => /^(?:1[5-9]|20|21)\d\d$/.test(field);

/** True for consecutive numbers, such as the years 2019, 2020, 2021 as columns of a pivot table. */
const isCounting = (fields: readonly string[]): boolean => {
  const numbers = fields.map(Number);
  const isLong = numbers.length > 2 || fields.every(isYear);
  return isLong && numbers.length > 1 && numbers.every((number, at) => number === numbers[0]! + at);
};

/** Returns the form of a code, such as `A-999` for `B-123`; '' for texts without digits. */
const formOf = (text: string): string =>
  /\d/.test(text) ? text.replace(/\d/g, '9').replace(/\p{L}/gu, 'A') : '';

type Vote = 'name' | 'value' | 'again' | undefined;

/** Compares the first field of a column with all fields below it. */
const voteOf = (first: string, below: readonly string[]): Vote => {
  const values = below.filter((text) => text !== '' && !nullWords.has(text));
  if (first === '' || nullWords.has(first) || values.length === 0) return undefined;
  let types = anyCandidate;
  for (const text of values) types &= candidatesOf(text, types);
  if (types !== 0) return (candidatesOf(first) & types) === 0 ? 'name' : 'value';
  const form = formOf(values[0]!);
  if (form !== '' && values.length > 1 && values.every((text) => formOf(text) === form))
    return formOf(first) === form ? 'value' : 'name';
  return values.includes(first) ? 'again' : undefined;
};

/**
 * True if the first record is a header. It is, unless the columns say otherwise: its fields are like
 * the values below them, or occur below as texts. A header may be repeated, as in joined files.
 */
export const hasHeader = (records: readonly (readonly string[])[]): boolean => {
  const [first, ...rest] = records.map((record) => record.map(trimBlanks));
  const named = first?.filter((field) => field !== '') ?? [];
  if (first === undefined || !named.some((field) => /\p{L}/u.test(field))) return false;
  const others = rest.filter((record) => !first.every((name, index) => record[index] === name));
  const votes = first.map((name, index) =>
    voteOf(
      name,
      others.map((record) => record[index] ?? ''),
    ),
  );
  const count = (vote: Vote): number => votes.filter((one) => one === vote).length;
  const valued = first.filter((_, index) => votes[index] === 'value');
  if (valued.every(isNumber) && isCounting(valued)) return true;
  if (count('name') !== count('value')) return count('name') > count('value');
  if (count('value') > 0) return false;
  const isTwice = new Set(named).size < named.length;
  const isValue = named.some((field) => candidatesOf(field) !== 0);
  return !isTwice && !isValue && 2 * count('again') < named.length;
};

const timesNamed = ({ groups, counters }: ColumnEvidence, name: string): number => {
  for (const { texts } of groups.values()) {
    const word = texts.get(name);
    if (word !== undefined) return counters[word.counter]!;
  }
  return 0;
};

/**
 * Returns how often the header is repeated among the records, as in concatenated files: at least
 * two columns have their own name as a value, equally often. Otherwise 0.
 */
export const headerRepeats = (columns: readonly ColumnEvidence[], header: readonly string[]): number => {
  const times = columns
    .map((column, index) => timesNamed(column, header[index]!))
    .filter((count) => count > 0);
  const [first = 0] = times;
  return times.length > 1 && times.every((count) => count === first) ? first : 0;
};

/** Letters that have a usual spelling in ASCII, but no accent that could be removed. */
const spelled: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/** Returns a name of lower-case letters of any script, digits and _. Accents of Latin letters go. */
export const snakeCase = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll}{2})/gu, '$1_$2')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => spelled[letter]!)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=[\p{N}\p{M}])/u, '_');

/** Longest name. PostgreSQL allows 63 bytes; the rest is for suffixes. */
const nameBytesMax = 50;

const cut = (name: string): string => {
  const characters = [...name];
  while (Buffer.byteLength(characters.join('')) > nameBytesMax) characters.pop();
  return characters.join('').replace(/_+$/, '');
};

/** Returns unique names. If the third field has no name, it becomes `field_3`. */
export const columnNames = (headers: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return headers.map((header, index) => {
    const base = cut(snakeCase(header)) || `field_${index + 1}`;
    const isFree = (name: string): boolean => !taken.has(name) && columnNameProblem(name) === undefined;
    let name = base;
    for (let count = 2; !isFree(name); count += 1) name = `${base}_${count}`;
    taken.add(name);
    return name;
  });
};
