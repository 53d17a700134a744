import type { Dialect } from '../../core/declaration.ts';
import { trimBlanks } from './blanks.ts';

/** Usually there is one text, and comparing is faster than hashing. */
export const isOneOf = (texts: readonly string[]): ((text: string) => boolean) => {
  const [only] = texts;
  if (texts.length === 1) return (text) => text === only;
  const set = new Set(texts);
  return (text) => set.has(text);
};

/**
 * With `quotedNulls: false`, the reader of unquoted fields returns undefined for a null token.
 * Otherwise the column compares the text later.
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
 * Null tokens to compare with a field later. `ofFile` is set if the field is a text about the file:
 * such texts are never quoted, so tokens always apply.
 */
export const nullsOfField = (
  { nulls, quotedNulls }: Dialect,
  ofFile: string | undefined,
): readonly string[] => (quotedNulls || ofFile !== undefined ? nulls : []);
