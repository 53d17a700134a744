// Decides if the first record of a file is a header, and makes column names of field names.

import { trimBlanks } from '../../format/records/blanks.ts';
import { candidatesOf } from './candidates.ts';
import type { ColumnEvidence } from './column-evidence.ts';

const nameCharsMax = 64;

/** True for consecutive numbers, such as the years 2019, 2020, 2021 as columns of a pivot table. */
const isCounting = (fields: readonly string[]): boolean => {
  const numbers = fields.filter((field) => /^\d+$/.test(field)).map(Number);
  return numbers.length > 1 && numbers.every((number, index) => number === numbers[0]! + index);
};

const mayBeName = (field: string): boolean =>
  field.length <= nameCharsMax && /\p{L}/u.test(field) && candidatesOf(field) === 0;

export const hasHeader = (records: readonly (readonly string[])[]): boolean => {
  const [first, ...rest] = records.map((record) => record.map(trimBlanks));
  if (first === undefined) return false;
  const names = first.filter((field) => field !== '');
  if (names.length === 0 || !names.some(mayBeName)) return false;
  const counting = isCounting(names);
  if (!names.every((name) => mayBeName(name) || (counting && /^\d+$/.test(name)))) return false;
  // Two equal fields suggest data, unless numbers or dates below them indicate a header.
  const isTyped = rest.some((record) => record.some((field) => candidatesOf(field) !== 0));
  if (new Set(names).size < names.length && !isTyped) return false;
  // A field that is also a value below is not a name, unless joined files repeat the whole header.
  const isAgain = (record: readonly string[]): boolean =>
    isTyped && names.length > 1 && first.every((name, index) => record[index] === name);
  const others = rest.filter((record) => !isAgain(record));
  return !first.some((name, index) => name !== '' && others.some((record) => record[index] === name));
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

export const snakeCase = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll}{2})/gu, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_');

/** Longest name. PostgreSQL allows 63 bytes; the rest is for suffixes. */
const nameBytesMax = 50;

const cut = (name: string): string => {
  let short = name;
  while (Buffer.byteLength(short) > nameBytesMax) short = short.slice(0, -1);
  return short;
};

/** Returns unique names. If the third field has no name, it becomes `field_3`. */
export const columnNames = (headers: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return headers.map((header, index) => {
    const base = cut(snakeCase(header)) || `field_${index + 1}`;
    let name = base;
    for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
    taken.add(name);
    return name;
  });
};
