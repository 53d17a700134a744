// boolean: PostgreSQL's own words, or exactly the texts that the column declares.

import type { ColumnOptions } from '../../declaration.ts';
import type { ColumnType, Reader } from './contract.ts';
import { isNot } from './refusal.ts';

const words: ReadonlyMap<string, string> = new Map([
  ...['t', 'true', 'y', 'yes', 'on', '1'].map((word) => [word, 't'] as const),
  ...['f', 'false', 'n', 'no', 'off', '0'].map((word) => [word, 'f'] as const),
]);

const readWord: Reader = (text) =>
  words.get(text) ?? words.get(text.toLowerCase()) ?? isNot(text, 'a boolean');

const booleanText = (value: boolean): string => (value ? 't' : 'f');

const declaredReader = ({ true: trues = [], false: falses = [], else: other }: ColumnOptions): Reader => {
  const declared = new Map<string, string>();
  for (const text of trues) declared.set(text, 't');
  for (const text of falses) declared.set(text, 'f');
  if (other === undefined) return (text) => declared.get(text) ?? isNot(text, 'a boolean of this column');
  const otherText = booleanText(other);
  return (text) => declared.get(text) ?? otherText;
};

const booleanProblem = (options: ColumnOptions): string | undefined => {
  const { true: trues, false: falses } = options;
  if (trues === undefined && falses === undefined)
    return options.else === undefined
      ? undefined
      : 'boolean: `else` goes with `true` or `false`; name the texts';
  if (trues?.length === 0 || falses?.length === 0) {
    return 'boolean: a list of texts for true or false names at least one; leave the list out instead';
  }
  const both = trues?.find((text) => falses?.includes(text));
  return both === undefined ? undefined : `boolean: '${both}' cannot mean both true and false`;
};

export const booleanType: ColumnType = {
  name: 'boolean',
  sql: () => 'boolean',
  optionKeys: ['true', 'false', 'else'],
  optionsProblem: booleanProblem,
  reader: (options) =>
    options.true === undefined && options.false === undefined ? readWord : declaredReader(options),
  toValue: (text) => text === 't',
  fromValue: (value) => (typeof value === 'boolean' ? booleanText(value) : undefined),
};
