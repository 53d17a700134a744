// Which texts of fields mean that there is no value.

import type { Dialect } from '../../core/declaration/declaration.ts';
import { trimBlanks } from './blanks.ts';

/** Makes the test whether a text is one of a few. Usually there is one, and no set has to hash every text. */
export const isOneOf = (texts: readonly string[]): ((text: string) => boolean) => {
  const [only] = texts;
  if (texts.length === 1) return (text) => text === only;
  const set = new Set(texts);
  return (text) => set.has(text);
};

/**
 * Makes the reader of unquoted fields of a dialect that gives quotes a meaning: undefined for a null token. In other dialects, texts
 * are what they are until their column is known.
 */
export const unquotedReader = ({
  nulls,
  quotedNulls,
  trim,
}: Dialect): ((text: string) => string | undefined) => {
  if (quotedNulls) return (text) => text;
  const isNull = isOneOf(nulls);
  return (text) => (isNull(trim === true ? trimBlanks(text) : text) ? undefined : text);
};

/** Tokens that a field of a record is compared with, or a text of the file, which is never quoted. */
export const nullsOfField = (
  { nulls, quotedNulls }: Dialect,
  ofFile: string | undefined,
): readonly string[] => (quotedNulls || ofFile !== undefined ? nulls : []);
