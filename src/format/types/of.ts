// Column type `of`: any type of the server, named by the column. The server reads the texts.

import { identifierBytesMax } from '../../core/limits.ts';
import { serverReads, type ColumnType, type Reader } from './contract.ts';
import { anyLength } from './text.ts';

export interface OfOptions {
  /** Type name as in DDL. */
  readonly sqlType: string;
}

const same: Reader = (text) => text;

const word = String.raw`[A-Za-z_][A-Za-z0-9_]*`;
const name = String.raw`(?:${word}|"(?:[^"\0]|"")+")`;
const modifier = String.raw`(?: ?\( ?[A-Za-z0-9_]+(?: ?, ?-?[A-Za-z0-9_]+)* ?\))?`;
const arrays = String.raw`(?: ?\[[0-9]*\]){0,6}`;

// Any other second word would start a constraint: "text default …", "text check (…)".
const severalWords = [
  'double precision',
  `(?:national )?char(?:acter)?(?: varying)?${modifier}`,
  `bit varying${modifier}`,
  `time(?:stamp)?${modifier} with(?:out)? time zone`,
  `interval (?:year|month|day|hour|minute|second)(?: to (?:month|hour|minute|second))?${modifier}`,
].join('|');

const typeName = new RegExp(`^(?:(?:${severalWords})|${name}(?:\\.${name})?${modifier})${arrays}$`, 'iu');

const longestName = 3 * identifierBytesMax;

const isTypeName = (text: string): boolean => text.length <= longestName && typeName.test(text);

export const ofType: ColumnType<string, OfOptions> = {
  sql: ({ sqlType }) => sqlType,
  options: { sqlType: { takes: 'text', must: 'the name of a type' } },
  optionsProblem: ({ sqlType }) =>
    isTypeName(sqlType)
      ? undefined
      : `'${sqlType}' is not the name of a type, such as citext, public.mood, numeric(8,2)[] or "My Type"`,
  reader: () => same,
  bytes: () => ({ kind: 'text', charactersMax: anyLength }),
  encode: serverReads,
  value: () => ({ kind: 'string' }),
  toValue: (text) => text,
  fromValue: (value) => (typeof value === 'string' ? value : undefined),
};
