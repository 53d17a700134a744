// Rewrites PostgreSQL 18's spellings of numbers, booleans and uuids as texts that all servers and
// our readers accept.

import type { OptionShape } from './contract.ts';

export interface SpellingOptions {
  /** 'server': also PostgreSQL's wider spellings: ` 5`, `1_000`, `0x1F`, `2011-1-31`, `tru`. */
  readonly spelling?: 'server';
}

export const spellingOption: OptionShape = {
  takes: 'text',
  must: "'server'",
  oneOf: ['server'],
  isSpelling: true,
};

/** Returns why one of the other options contradicts `spelling`, or undefined. */
export const spellingProblem = (
  { spelling }: SpellingOptions,
  others: Readonly<Record<string, unknown>>,
): string | undefined => {
  const other = Object.keys(others).find((name) => others[name] !== undefined);
  return spelling === undefined || other === undefined
    ? undefined
    : `spelling: 'server' reads texts as the server does, and ${other} says otherwise; leave one of them out`;
};

/** White space as defined by isspace() in C. */
const isBlankAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13);
};

/** Trims white space. A regular expression would retry at every blank inside a long text. */
export const withoutBlanks = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankAt(text, start)) start += 1;
  while (end > start && isBlankAt(text, end - 1)) end -= 1;
  return text.slice(start, end);
};

/** Longer texts are not converted: no integer type has that many digits in base 2, 8 or 16. */
const otherBaseCharsMax = 128;
const otherBase = /^([+-]?)(0x_?[\da-f]+(?:_[\da-f]+)*|0o_?[0-7]+(?:_[0-7]+)*|0b_?[01]+(?:_[01]+)*)$/i;

const fromOtherBase = (text: string): string | undefined => {
  if (text.length > otherBaseCharsMax) return undefined;
  const [, sign = '', digits] = otherBase.exec(text) ?? [];
  return digits === undefined ? undefined : `${sign}${BigInt(digits.replaceAll('_', ''))}`;
};

/** PostgreSQL allows one underscore between two digits. */
const underscores = /(?<=\d)_(?=\d)/g;

/** Rewrites an integer or decimal. Other texts stay wrong and are refused by the caller. */
export const serverNumber = (text: string): string => {
  const trimmed = withoutBlanks(text);
  return fromOtherBase(trimmed) ?? trimmed.replace(underscores, '');
};

const trues = ['true', 'yes', 'on', '1'];
const falses = ['false', 'no', 'off', '0'];

/** Accepts a word or its beginning, unless two words begin alike. Returns 't', 'f' or undefined. */
export const serverBoolean = (text: string): string | undefined => {
  const word = withoutBlanks(text).toLowerCase();
  if (word === '' || word === 'o') return undefined;
  if (trues.some((each) => each.startsWith(word))) return 't';
  return falses.some((each) => each.startsWith(word)) ? 'f' : undefined;
};

const groupsOfFour = /^(?:[\da-f]{4}-?){7}[\da-f]{4}$/i;

/** Returns the 32 digits of a uuid with hyphens after any group of four, with or without braces. */
export const serverUuid = (text: string): string | undefined => {
  const bare = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  return groupsOfFour.test(bare) ? bare.replaceAll('-', '') : undefined;
};
