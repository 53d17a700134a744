// Finds the file paths that contain a text of the parameters. For each text, the author's function
// makes the tables again with a marked, harmless text in its place. The author wrote the part that
// a path and its variation have in common, and only below that part may the parameter choose files.

import { memberLocation } from '../input/decode/member-location.ts';
import { mark } from '../input/sources/confine.ts';
import type { VariedPath } from '../core/declaration/declaration.ts';

type Params = Readonly<Record<string, unknown>>;

/** One text inside the parameters, and a function that returns the parameters with another text. */
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

/** True if a text can lead out of a directory or to another part of a URL, alone or joined. */
const mayLead = (text: string): boolean => /^\s*\.*\s*$|[/\\%:?#@&\0]|\.[^\w/\\]*\./.test(text);

const neutral = (text: string): string => mark + text.replaceAll(/[^\w.-]/g, '_');

/** Returns the declared paths of each table, in declared order, by table name. */
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
    // The author's function may refuse the marked text, or use it as the key of a lookup.
    return undefined;
  }
};

/**
 * Returns the paths that contain a text of the parameters, each with its variations.
 *
 * @param make returns the unchecked tables for given parameters.
 */
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
        // Without the mark, the text was not part of the path: it was a lookup key, or only a part
        // of the text was used. A text that cannot lead elsewhere is then harmless.
        return other?.includes(mark) === true || mayLead(text) ? [other ?? ''] : [];
      });
      return others.length === 0 ? [] : [{ table, path, others }];
    }),
  );
};
