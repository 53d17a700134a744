// Which field of a file a column means: by its header, exactly or nearly, by its position, or by one of several headers; and the
// texts that hold for a whole file: constants, and parts of its path.

import type { Dialect, FieldRef, LineageName } from '../../core/declaration/declaration.ts';
import type { SourceFile } from '../../core/model.ts';
import { inQuotes } from '../../core/wording.ts';
import { trimBlanks } from './blanks.ts';

/** The file whose records are decoded, as far as decoders know it: a file that is only looked at has no id and no run. */
export type DecodedFile = Pick<SourceFile, 'name' | 'header' | 'lineEnd' | 'constants'> &
  Partial<Pick<SourceFile, 'id' | 'runId' | 'runStarted'>>;

/** The fields of one file. Places count from 0; those after the last field of a record are texts of the file. */
export interface FileFields {
  /** Names of the fields of a record, in file order. */
  readonly header: readonly string[];
  /** Places that may be meant: none when there is no such field, several when it is not clear which. */
  readonly placesOf: (ref: FieldRef) => readonly number[];
  /** The place; -1: the file has no such field. */
  readonly placeOf: (ref: FieldRef) => number;
  /** The text that holds for the whole file; undefined for a field of its records, or none. */
  readonly textAt: (place: number) => string | undefined;
  /** Where its records are from; undefined: each is from its own line. */
  readonly lineage: Readonly<Record<LineageName, string | undefined>>;
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

/** The part of a path that a pattern finds: its group, or all of it. */
const partOf = (path: string, pattern: RegExp): string | undefined => {
  const found = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(path);
  return found === null ? undefined : (found[1] ?? found[0]);
};

/** Places by name, as names are compared. */
const placesByName = (names: readonly string[], keyOf: (name: string) => string) => {
  const places = new Map<string, number[]>();
  for (const [place, name] of names.entries()) {
    const same = places.get(keyOf(name));
    if (same === undefined) places.set(keyOf(name), [place]);
    else same.push(place);
  }
  return (name: string): readonly number[] => {
    const found = places.get(keyOf(name));
    if (found !== undefined) return found;
    const [, base, count] = numbered.exec(name) ?? [];
    const same = base === undefined ? undefined : places.get(keyOf(base));
    return same?.slice(Number(count) - 1, Number(count)) ?? [];
  };
};

/** Finds the fields of a file. */
export const fieldsOf = (
  {
    header,
    name: path,
    constants,
    id = 0,
    runId = 0,
    runStarted = '1970-01-01 00:00:00+00',
  }: Omit<DecodedFile, 'lineEnd'>,
  { match, trim }: Pick<Dialect, 'match' | 'trim'>,
): FileFields => {
  const named = placesByName(
    [...header, ...Object.keys(constants)],
    match === 'relaxed' ? relaxed : (name) => name,
  );
  const texts = Object.values(constants);
  const parts = new Map<string, readonly number[]>();
  const partPlaces = (pattern: RegExp): readonly number[] => {
    const known = parts.get(String(pattern));
    if (known !== undefined) return known;
    const part = partOf(path, pattern);
    const places = part === undefined ? [] : [header.length + texts.push(part) - 1];
    parts.set(String(pattern), places);
    return places;
  };
  const placesOf = (ref: FieldRef): readonly number[] => {
    if (typeof ref === 'string') return named(ref);
    if (typeof ref === 'number') return ref > header.length ? [] : [ref - 1];
    return 'path' in ref ? partPlaces(ref.path) : [...new Set(ref.from.flatMap(named))];
  };
  return {
    header,
    placesOf,
    placeOf: (ref) => placesOf(ref)[0] ?? -1,
    textAt: (place) => {
      const text = texts[place - header.length];
      return text === undefined || trim === false ? text : trimBlanks(text);
    },
    lineage: { _file: String(id), _line: undefined, _loaded_at: runStarted, _run: String(runId) },
  };
};

/** The field as a message names it: `"price"`, `field 3`, `"Start Time" or "started_at"`, `path(/\d+/)`. */
export const refText = (ref: FieldRef): string => {
  if (typeof ref === 'number') return `field ${ref}`;
  if (typeof ref === 'string') return inQuotes(ref);
  return 'from' in ref ? ref.from.map(inQuotes).join(' or ') : mainName(ref);
};

/** The name or position by which functions see the field. */
export const mainName = (ref: FieldRef): string => {
  if (typeof ref !== 'object') return String(ref);
  return 'path' in ref ? `path(${String(ref.path)})` : ref.from[0]!;
};

/** What tells one field of a declaration from another. */
export const refKey = (ref: FieldRef): string =>
  typeof ref === 'object' && 'path' in ref ? mainName(ref) : JSON.stringify(ref);
