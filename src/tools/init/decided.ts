// Makes the decision for a column of a chosen type: null tokens, blanks, counts and losses.

import { counterOf, type ColumnEvidence } from './column-evidence.ts';
import type { Decision, DeclaredType, Summary, TypeChoice, Word } from './contract.ts';
import { hasShortYears } from '../what-is-lost.ts';
import { lossesOf } from './losses.ts';

export const textChoice: TypeChoice = { type: 'text', options: {}, isOneToOne: true };

type Words = readonly (readonly [text: string, word: Word])[];

/** How a column is decided. `isTrimmed`: the dialect removes blanks around every field. */
export interface Deciding {
  readonly isTrimmed: boolean;
  /** The header is repeated, so its name is not a value. */
  readonly isRepeated: boolean;
  /** The type that the user declares. */
  readonly declared: DeclaredType | undefined;
  /** The user named the null tokens, so they are null in texts, too. */
  readonly areNullsDeclared: boolean;
  /** The first year of two digits that is in the 1900s. */
  readonly pivot: number | undefined;
}

export const usually: Deciding = {
  isTrimmed: true,
  isRepeated: false,
  declared: undefined,
  areNullsDeclared: false,
  pivot: undefined,
};

const blanksListedMax = 8;

/** Types whose option `spelling` also removes blanks, if they have no other option of spelling. */
const trimming = new Set([
  'integer',
  'bigint',
  'numeric',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'uuid',
]);

/** Returns the choice with blanks removed in this column alone, or undefined if it cannot do that. */
const trimmedAlone = (choice: TypeChoice, column: ColumnEvidence, words: Words): TypeChoice | undefined => {
  const { padded, blanks } = column;
  if (blanks.size > blanksListedMax) return undefined;
  if (padded === undefined) return choice;
  const isPlain = Object.keys(choice.options).every((name) => name === 'precision' || name === 'scale');
  return isPlain && words.length === 0 && trimming.has(choice.type)
    ? { ...choice, options: { ...choice.options, spelling: 'server' } }
    : undefined;
};

const sumOf = ({ counters }: ColumnEvidence, words: Iterable<readonly [string, Word]>): number => {
  let sum = 0;
  for (const [, { counter }] of words) sum += counters[counter]!;
  return sum;
};

/** Returns the decision for a type, or undefined if blanks around the values stand in its way. */
export const decided = (
  column: ColumnEvidence,
  found: TypeChoice,
  summary: Summary,
  { isTrimmed, areNullsDeclared, pivot }: Deciding,
  more: Words = [],
): Decision | undefined => {
  const { counters, blanks } = column;
  const isText = found.type === 'text';
  const keepsWords = isText && !areNullsDeclared;
  const words = keepsWords ? [] : [...column.words, ...more];
  const given =
    pivot !== undefined && hasShortYears(found) ? { ...found, options: { ...found.options, pivot } } : found;
  const choice = isText || isTrimmed ? given : trimmedAlone(given, column, words);
  if (choice === undefined) return undefined;
  const blank = counters[counterOf.blank]!;
  const asText = (keepsWords ? sumOf(column, column.words) : 0) + (isText && !isTrimmed ? blank : 0);
  const listed = words.map(([word, { counter }]) => [word, counters[counter]!] as const);
  const all = summary.values + counters[counterOf.empty]! + blank + sumOf(column, column.words);
  const values = summary.values + asText;
  return {
    ...choice,
    missing: all + sumOf(column, more) - values,
    words: listed,
    blanks: isText || isTrimmed ? [] : [...blanks.keys()],
    values,
    losses: lossesOf(choice, column, summary, words, isTrimmed),
    doubts: [],
    alternatives: [],
  };
};
