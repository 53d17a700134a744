// Column types text and varchar(n). Invalid UTF-8 and NUL were found when bytes became text.

import { varcharLengthMax } from '../../core/limits.ts';
import { putText } from './row-bytes.ts';
import type { ColumnType, NoOptions, Reader } from './contract.ts';
import { quoted, refuse } from './refusal.ts';

export interface VarcharOptions {
  /** Limit in characters. */
  readonly length: number;
}

const same: Reader = (text) => text;

const textFrom = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const anyLength = 0x7fffffff;

export const textType: ColumnType<string, NoOptions> = {
  sql: () => 'text',
  options: {},
  reader: () => same,
  bytes: () => ({ kind: 'text', charactersMax: anyLength }),
  encode: putText,
  value: () => ({ kind: 'string' }),
  toValue: (text) => text,
  fromValue: textFrom,
};

export const countCharacters = (text: string): number => {
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters;
};

// A character has one or two code units, so `text.length` decides most texts without counting.
const varcharReader =
  (length: number): Reader =>
  (text) => {
    if (text.length <= length) return text;
    const characters = countCharacters(text);
    return characters <= length
      ? text
      : refuse(
          'too_long',
          `${quoted(text)} has ${characters} characters, varchar(${length}) keeps ${length}`,
        );
  };

export const varcharType: ColumnType<string, VarcharOptions> = {
  sql: ({ length }) => `varchar(${length})`,
  options: { length: { takes: 'whole number' } },
  optionsProblem: ({ length }) =>
    Number.isInteger(length) && length >= 1 && length <= varcharLengthMax
      ? undefined
      : `varchar needs a length from 1 to ${varcharLengthMax}, in characters; use text for any length`,
  reader: ({ length }) => varcharReader(length),
  bytes: ({ length }) => ({ kind: 'text', charactersMax: length }),
  encode: putText,
  value: ({ length }) => ({ kind: 'string', charactersMax: length }),
  toValue: (text) => text,
  fromValue: textFrom,
};
