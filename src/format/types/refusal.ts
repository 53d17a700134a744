// Makes refusals, whose reasons name the type and the text.

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

export const quoted = (text: string): string => inQuotes(cut(text));

export const bare = (text: string): string => quoted(text).slice(1, -1);

export const refuse = (code: RejectCode, reason: string): Refusal => ({ code, reason });

/** Refuses a text: `"12a" is not a smallint`. `kind` includes the article. */
export const isNot = (text: string, kind: string): Refusal =>
  refuse('type', `${quoted(text)} is not ${kind}`);
