// Texts that mean null.

import type { Dialect } from '../../core/declaration.ts';
import { trimBlanks } from './blanks.ts';

export const isOneOf = (texts: readonly string[]): ((text: string) => boolean) => {
  const [only] = texts;
  if (texts.length === 1) return (text) => text === only;
  const set = new Set(texts);
  return (text) => set.has(text);
};

/** Makes a function: undefined for null tokens. With `quotedNulls`, columns compare them later. */
export const unquotedReader = ({
  nulls,
  quotedNulls,
  trim,
}: Dialect): ((text: string) => string | undefined) => {
  if (quotedNulls) return (text) => text;
  const isNull = isOneOf(nulls);
  return (text) => (isNull(trim === true ? trimBlanks(text) : text) ? undefined : text);
};

/** Returns the null tokens that a column compares. `ofFile` is a text from the path or constant. */
export const nullsOfField = (
  { nulls, quotedNulls }: Dialect,
  ofFile: string | undefined,
): readonly string[] => (quotedNulls || ofFile !== undefined ? nulls : []);
