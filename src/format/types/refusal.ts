// Makes refusals. Every reason names the type and the text, shortened and printable.

import { reasonTextCharsMax } from '../../core/limits.ts';
import type { RejectCode } from '../../core/model.ts';
import { inQuotes } from '../../core/wording.ts';
import type { Refusal } from './contract.ts';

// A character has at most two code units, so this array stays small for a text of megabytes.
const cut = (text: string): string => {
  if (text.length <= reasonTextCharsMax) return text;
  const characters = Array.from(text.slice(0, 2 * reasonTextCharsMax + 2));
  return characters.length <= reasonTextCharsMax
    ? text
    : `${characters.slice(0, reasonTextCharsMax).join('')}…`;
};

/** The text in double quotes, shortened, with control characters escaped. */
export const quoted = (text: string): string => inQuotes(cut(text));

/** The text without quotes, for digits and signs, which nobody mistakes for words. */
export const bare = (text: string): string => quoted(text).slice(1, -1);

export const refuse = (code: RejectCode, reason: string): Refusal => ({ code, reason });

/** Refuses with a reason such as `"12a" is not a smallint`. `kind` includes the article. */
export const isNot = (text: string, kind: string): Refusal =>
  refuse('type', `${quoted(text)} is not ${kind}`);
