// Which field of a file a column means: by its header, exactly or nearly, by its position, or by one of several headers.

import type { Dialect, FieldRef } from '../declaration.ts';
import type { SourceFile } from '../model.ts';
import { inQuotes } from '../wording.ts';

/** The file whose records are decoded, as far as decoders know it. */
export type DecodedFile = Pick<SourceFile, 'name' | 'header' | 'lineEnd'>;

/** The fields of one file. */
export interface FileFields {
  /** Their names, in file order. */
  readonly header: readonly string[];
  /** Places from 0 of the fields that may be meant: none when the file has no such field, several when it is not clear which. */
  readonly placesOf: (ref: FieldRef) => readonly number[];
  /** The place from 0; -1: the file has no such field. */
  readonly placeOf: (ref: FieldRef) => number;
}

/** Without case, blanks, underscores and accents; a name of nothing else stays what it is. */
const relaxed = (name: string): string =>
  name
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{M}\s_]/gu, '') || name;

/** `rate#2`: the second field of that name. */
const numbered = /^(.+)#([1-9]\d*)$/s;

/** Finds the fields of a file with this header. */
export const fieldsOf = (header: readonly string[], { match }: Pick<Dialect, 'match'>): FileFields => {
  const keyOf = match === 'relaxed' ? relaxed : (name: string): string => name;
  const places = new Map<string, number[]>();
  for (const [place, name] of header.entries()) {
    const key = keyOf(name);
    const same = places.get(key);
    if (same === undefined) places.set(key, [place]);
    else same.push(place);
  }
  const named = (name: string): readonly number[] => {
    const found = places.get(keyOf(name));
    if (found !== undefined) return found;
    const [, base, count] = numbered.exec(name) ?? [];
    const same = base === undefined ? undefined : places.get(keyOf(base));
    return same?.slice(Number(count) - 1, Number(count)) ?? [];
  };
  const placesOf = (ref: FieldRef): readonly number[] => {
    if (typeof ref === 'string') return named(ref);
    if (typeof ref === 'number') return ref > header.length ? [] : [ref - 1];
    return [...new Set(ref.from.flatMap(named))];
  };
  return { header, placesOf, placeOf: (ref) => placesOf(ref)[0] ?? -1 };
};

/** The field as a message names it: `"price"`, `field 3`, `"Start Time" or "started_at"`. */
export const refText = (ref: FieldRef): string => {
  if (typeof ref === 'number') return `field ${ref}`;
  return (typeof ref === 'string' ? [ref] : ref.from).map(inQuotes).join(' or ');
};

/** The name or position by which functions see the field. */
export const mainName = (ref: FieldRef): string => (typeof ref === 'object' ? ref.from[0]! : String(ref));

/** What tells one field of a declaration from another. */
export const refKey = (ref: FieldRef): string => JSON.stringify(ref);
