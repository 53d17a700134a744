// Texts that mean null.

import type { Dialect } from '../../core/declaration.ts';
import { trimBlanks } from './blanks.ts';

/** Makes a test for membership. Usually there is one text, and comparing is faster than hashing. */
export const isOneOf = (texts: readonly string[]): ((text: string) => boolean) => {
  const [only] = texts;
  if (texts.length === 1) return (text) => text === only;
  const set = new Set(texts);
  return (text) => set.has(text);
};

/**
 * Makes the reader of unquoted fields. If only unquoted fields can be null (`quotedNulls: false`),
 * it returns undefined for a null token. Otherwise it returns the text, and the column compares it
 * later.
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

/**
 * Null tokens to compare with a field later. `ofFile` is the text of the file that the field holds,
 * if any; such texts are never quoted, so tokens always apply.
 */
export const nullsOfField = (
  { nulls, quotedNulls }: Dialect,
  ofFile: string | undefined,
): readonly string[] => (quotedNulls || ofFile !== undefined ? nulls : []);
