// Finds the paths that texts of parameters are part of. The tables are made once more for each text, with a mark at its
// beginning and without characters that lead elsewhere. What a path and its variation share was written by the author.

import { memberLocation } from '../input/decode/member-location.ts';
import { mark } from '../input/sources/confine.ts';
import type { VariedPath } from '../core/declaration/declaration.ts';

type Params = Readonly<Record<string, unknown>>;

/** The same values with another text in one place. */
interface Variation {
  readonly text: string;
  readonly with: (text: string) => unknown;
}

const variationsOf = (value: unknown): readonly Variation[] => {
  if (typeof value === 'string') return [{ text: value, with: (text) => text }];
  if (typeof value !== 'object' || value === null) return [];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    variationsOf(inner).map((each) => ({
      text: each.text,
      with: (text: string) =>
        Array.isArray(value)
          ? value.with(Number(name), each.with(text))
          : { ...value, [name]: each.with(text) },
    })),
  );
};

/** Whether a text can lead out of a directory, or into another part of a URL, also together with others. */
const mayLead = (text: string): boolean => /^\s*\.*\s*$|[/\\%:?#@&\0]|\.[^\w/\\]*\./.test(text);

const neutral = (text: string): string => mark + text.replaceAll(/[^\w.-]/g, '_');

/** The paths of all tables, in their order, by table. */
const pathsOf = (tables: unknown): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(
      tables as Record<string, { source?: { paths?: unknown }; transform?: { path?: unknown } }>,
    ).map(([table, { source, transform }]) => {
      const all = [[source?.paths].flat(), transform?.path ?? []].flat() as readonly unknown[];
      const paths = all.map((one) => (typeof one === 'object' ? (one as { path?: unknown }).path : one));
      return [table, paths.map((path) => (typeof path === 'string' ? memberLocation(path).location : ''))];
    }),
  );

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    // The author's function refuses such a text, or looks it up.
    return undefined;
  }
};

/** @param make gives the tables for other parameters, before they are checked */
export const variedPaths = (params: Params, make: (params: Params) => unknown): readonly VariedPath[] => {
  const variations = variationsOf(params);
  if (variations.length === 0) return [];
  const varied = variations.map(({ text, with: vary }) => ({
    text,
    paths: orUndefined(() => pathsOf(make(vary(neutral(text)) as Params))),
  }));
  return [...pathsOf(make(params))].flatMap(([table, paths]) =>
    paths.flatMap((path, index) => {
      const others = varied.flatMap(({ text, paths: withOther }) => {
        const other = withOther?.get(table)?.[index];
        if (other === path) return [];
        // A text that leads nowhere may be looked up, or be cut to a part without the mark.
        return other?.includes(mark) === true || mayLead(text) ? [other ?? ''] : [];
      });
      return others.length === 0 ? [] : [{ table, path, others }];
    }),
  );
};
