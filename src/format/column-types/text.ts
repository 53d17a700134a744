// text and varchar(n): any characters; UTF-8 and NUL are checked where bytes become text.

import { varcharLengthMax } from '../../limits.ts';
import type { ColumnType, Reader } from './contract.ts';
import { quoted, refuse } from './refusal.ts';

const same: Reader = (text) => text;

const textFrom = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const textType: ColumnType = {
  name: 'text',
  sql: () => 'text',
  optionKeys: [],
  reader: () => same,
  toValue: (text) => text,
  fromValue: textFrom,
};

const countCharacters = (text: string): number => {
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters;
};

// A character is one or two code units, so most texts are decided by their length alone.
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

export const varcharType: ColumnType = {
  name: 'varchar',
  sql: ({ length }) => `varchar(${length})`,
  optionKeys: ['length'],
  optionsProblem: ({ length }) =>
    Number.isInteger(length) && length! >= 1 && length! <= varcharLengthMax
      ? undefined
      : `varchar needs a length from 1 to ${varcharLengthMax}, in characters; use text for any length`,
  reader: ({ length }) => varcharReader(length!),
  toValue: (text) => text,
  fromValue: textFrom,
};
