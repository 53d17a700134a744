// Numbers, booleans and uuids in every spelling that PostgreSQL 18 takes, as texts that every server and our readers take.

import type { OptionShape } from './contract.ts';

export interface SpellingOptions {
  /** 'server': also the wide spellings of PostgreSQL, such as ` 5`, `1_000`, `0x1F`, `2011-1-31` and `tru`. */
  readonly spelling?: 'server';
}

export const spellingOption: OptionShape = {
  takes: 'text',
  must: "'server'",
  oneOf: ['server'],
  isSpelling: true,
};

/** Why an option does not go with `spelling`. */
export const spellingProblem = (
  { spelling }: SpellingOptions,
  others: Readonly<Record<string, unknown>>,
): string | undefined => {
  const other = Object.keys(others).find((name) => others[name] !== undefined);
  return spelling === undefined || other === undefined
    ? undefined
    : `spelling: 'server' reads texts as the server does, and ${other} says otherwise; leave one of them out`;
};

/** White space of isspace() in C. */
const isBlankAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13);
};

/** No regular expression: one would look at each blank within a long text again and again. */
export const withoutBlanks = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankAt(text, start)) start += 1;
  while (end > start && isBlankAt(text, end - 1)) end -= 1;
  return text.slice(start, end);
};

/** Longer digits are left as they are: no number of the server has as many in another base. */
const otherBaseCharsMax = 128;
const otherBase = /^([+-]?)(0x_?[\da-f]+(?:_[\da-f]+)*|0o_?[0-7]+(?:_[0-7]+)*|0b_?[01]+(?:_[01]+)*)$/i;

const fromOtherBase = (text: string): string | undefined => {
  if (text.length > otherBaseCharsMax) return undefined;
  const [, sign = '', digits] = otherBase.exec(text) ?? [];
  return digits === undefined ? undefined : `${sign}${BigInt(digits.replaceAll('_', ''))}`;
};

/** The number itself: only digits have underscores between them, one each. */
const underscores = /(?<=\d)_(?=\d)/g;

/** A whole number or decimal of the server; anything else comes back as no number. */
export const serverNumber = (text: string): string => {
  const trimmed = withoutBlanks(text);
  return fromOtherBase(trimmed) ?? trimmed.replace(underscores, '');
};

const trues = ['true', 'yes', 'on', '1'];
const falses = ['false', 'no', 'off', '0'];

/** t or f for a word or its beginning, as long as that is of one word only; undefined for others. */
export const serverBoolean = (text: string): string | undefined => {
  const word = withoutBlanks(text).toLowerCase();
  if (word === '' || word === 'o') return undefined;
  if (trues.some((each) => each.startsWith(word))) return 't';
  return falses.some((each) => each.startsWith(word)) ? 'f' : undefined;
};

const groupsOfFour = /^(?:[\da-f]{4}-?){7}[\da-f]{4}$/i;

/** The 32 digits of a uuid with hyphens after any groups of four, with or without braces; undefined for others. */
export const serverUuid = (text: string): string | undefined => {
  const bare = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  return groupsOfFour.test(bare) ? bare.replaceAll('-', '') : undefined;
};
