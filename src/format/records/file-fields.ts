// Finds the field of a file that a column names, and texts that hold for the whole file.

import { composed } from '../../core/characters.ts';
import type { Dialect, FieldRef, LineageName } from '../../core/declaration.ts';
import type { SourceFile } from '../../core/model.ts';
import { inQuotes } from '../../core/wording.ts';
import { trimBlanks } from './blanks.ts';

export type DecodedFile = Pick<SourceFile, 'name' | 'header' | 'lineEnd' | 'constants'> &
  Partial<Pick<SourceFile, 'id' | 'runId' | 'runStarted'>>;

/** Fields by index: first the record's fields, then texts about the file. */
export interface FileFields {
  readonly header: readonly string[];
  readonly indexesOf: (ref: FieldRef) => readonly number[];
  readonly indexOf: (ref: FieldRef) => number;
  /** Returns the text that holds for the whole file; undefined for a field of a record. */
  readonly textAt: (index: number) => string | undefined;
  /** Undefined for `_line`, which differs per record. */
  readonly lineage: Readonly<Record<LineageName, string | undefined>>;
}

/** Drops case, blanks, underscores and accents of a name, unless nothing else would be left. */
const relaxed = (name: string): string =>
  name
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{M}\s_]/gu, '') || name;

/** `rate#2` means the second field named `rate`. */
const numbered = /^(.+)#([1-9]\d*)$/s;

const partOf = (path: string, pattern: RegExp): string | undefined => {
  const found = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(path);
  return found === null ? undefined : (found[1] ?? found[0]);
};

const indexesByName = (names: readonly string[], keyOf: (name: string) => string) => {
  const indexes = new Map<string, number[]>();
  for (const [index, name] of names.entries()) {
    const same = indexes.get(keyOf(name));
    if (same === undefined) indexes.set(keyOf(name), [index]);
    else same.push(index);
  }
  return (name: string): readonly number[] => {
    const found = indexes.get(keyOf(name));
    if (found !== undefined) return found;
    const [, base, count] = numbered.exec(name) ?? [];
    const same = base === undefined ? undefined : indexes.get(keyOf(base));
    return same?.slice(Number(count) - 1, Number(count)) ?? [];
  };
};

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
  const named = indexesByName(
    [...header, ...Object.keys(constants)],
    match === 'relaxed' ? relaxed : composed,
  );
  const texts = Object.values(constants);
  const parts = new Map<string, readonly number[]>();
  const partIndexes = (pattern: RegExp): readonly number[] => {
    const known = parts.get(String(pattern));
    if (known !== undefined) return known;
    const part = partOf(path, pattern);
    const indexes = part === undefined ? [] : [header.length + texts.push(part) - 1];
    parts.set(String(pattern), indexes);
    return indexes;
  };
  const indexesOf = (ref: FieldRef): readonly number[] => {
    if (typeof ref === 'string') return named(ref);
    if (typeof ref === 'number') return ref > header.length ? [] : [ref - 1];
    return 'path' in ref ? partIndexes(ref.path) : [...new Set(ref.from.flatMap(named))];
  };
  return {
    header,
    indexesOf,
    indexOf: (ref) => indexesOf(ref)[0] ?? -1,
    textAt: (index) => {
      const text = texts[index - header.length];
      return text === undefined || trim === false ? text : trimBlanks(text);
    },
    lineage: { _file: String(id), _line: undefined, _loaded_at: runStarted, _run: String(runId) },
  };
};

/** Text for messages: `"price"`, `field 3`, `"Start Time" or "started_at"`, `path(/\d+/)`. */
export const refText = (ref: FieldRef): string => {
  if (typeof ref === 'number') return `field ${ref}`;
  if (typeof ref === 'string') return inQuotes(ref);
  return 'from' in ref ? ref.from.map(inQuotes).join(' or ') : mainName(ref);
};

/** The name or position under which user functions get the field. */
export const mainName = (ref: FieldRef): string => {
  if (typeof ref !== 'object') return String(ref);
  return 'path' in ref ? `path(${String(ref.path)})` : ref.from[0]!;
};

export const refKey = (ref: FieldRef): string =>
  typeof ref === 'object' && 'path' in ref ? mainName(ref) : JSON.stringify(ref);
