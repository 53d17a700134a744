// Whether the first record of a file names its fields, and what columns are called by such names.

import { trimBlanks } from '../format/blanks.ts';
import { candidatesOf } from './candidates.ts';

const nameCharsMax = 64;

/** Years and other whole numbers one after the other name the columns of a table that was turned on its side. */
const isCounting = (fields: readonly string[]): boolean => {
  const numbers = fields.filter((field) => /^\d+$/.test(field)).map(Number);
  return numbers.length > 1 && numbers.every((number, place) => number === numbers[0]! + place);
};

const mayBeName = (field: string): boolean =>
  field.length <= nameCharsMax && /\p{L}/u.test(field) && candidatesOf(field) === 0;

/** Whether the first of these records is a header. */
export const hasHeader = (records: readonly (readonly string[])[]): boolean => {
  const [first, ...others] = records.map((record) => record.map(trimBlanks));
  if (first === undefined) return false;
  const names = first.filter((field) => field !== '');
  if (names.length === 0 || !names.some(mayBeName)) return false;
  const counting = isCounting(names);
  if (!names.every((name) => mayBeName(name) || (counting && /^\d+$/.test(name)))) return false;
  // Two fields of data are often the same, two names only where numbers below them show that they are names.
  const isTyped = others.some((record) => record.some((field) => candidatesOf(field) !== 0));
  if (new Set(names).size < names.length && !isTyped) return false;
  // Names do not come again where their column has its values.
  return !first.some((name, place) => name !== '' && others.some((record) => record[place] === name));
};

/** Words in which no letter tells them from SQL and TypeScript: `DryBulbFarenheit` is dry_bulb_farenheit. */
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

/** The server cuts longer names. */
const nameBytesMax = 50;

const cut = (name: string): string => {
  let short = name;
  while (Buffer.byteLength(short) > nameBytesMax) short = short.slice(0, -1);
  return short;
};

/** Names of columns for fields, each once; a field without a name is called by its position. */
export const columnNames = (headers: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  return headers.map((header, place) => {
    const base = cut(snakeCase(header)) || `field_${place + 1}`;
    let name = base;
    for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
    taken.add(name);
    return name;
  });
};
