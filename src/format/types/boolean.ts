// Column type boolean.

import { putInt32, reserve, type RowBytes } from './row-bytes.ts';
import type { ByteKind } from '../encoder/kinds.ts';
import type { ColumnType, Reader } from './contract.ts';
import { isNot } from './refusal.ts';
import { serverBoolean, spellingOption, spellingProblem, type SpellingOptions } from './server-spelling.ts';

export interface BooleanOptions extends SpellingOptions {
  /** Texts that mean true. Default, unless `false` is given: PostgreSQL's words. */
  readonly true?: readonly string[];
  /** Texts that mean false. Default, unless `true` is given: PostgreSQL's words. */
  readonly false?: readonly string[];
  /** Value of every other text. Without this option, a record with another text is rejected. */
  readonly else?: boolean;
}

const words: ReadonlyMap<string, string> = new Map([
  ...['t', 'true', 'y', 'yes', 'on', '1'].map((word) => [word, 't'] as const),
  ...['f', 'false', 'n', 'no', 'off', '0'].map((word) => [word, 'f'] as const),
]);

const readWord: Reader = (text) =>
  words.get(text) ?? words.get(text.toLowerCase()) ?? isNot(text, 'a boolean');

const readWide: Reader = (text) => serverBoolean(text) ?? isNot(text, 'a boolean');

export const booleanText = (value: boolean): string => (value ? 't' : 'f');

const declaredReader = ({ true: trues = [], false: falses = [], else: other }: BooleanOptions): Reader => {
  const declared = new Map<string, string>();
  for (const text of trues) declared.set(text, 't');
  for (const text of falses) declared.set(text, 'f');
  if (other === undefined)
    return (text) => declared.get(text) ?? isNot(text, 'one of the texts that the column declares');
  const otherText = booleanText(other);
  return (text) => declared.get(text) ?? otherText;
};

const booleanProblem = (options: BooleanOptions): string | undefined => {
  const { true: trues, false: falses } = options;
  const problem = spellingProblem(options, { true: trues, false: falses });
  if (problem !== undefined) return problem;
  if (trues === undefined && falses === undefined)
    return options.else === undefined
      ? undefined
      : 'boolean: `else` needs a list of texts in `true` or `false`';
  if (trues?.length === 0 || falses?.length === 0) {
    return 'boolean: a list of texts for true or false names at least one; leave the list out instead';
  }
  const both = trues?.find((text) => falses?.includes(text));
  return both === undefined ? undefined : `boolean: '${both}' cannot mean both true and false`;
};

const booleanBytes = ({ true: trues, false: falses, else: other }: BooleanOptions): ByteKind =>
  trues === undefined && falses === undefined
    ? { kind: 'boolean' }
    : {
        kind: 'word',
        words: [
          ...(trues ?? []).map((text) => [text, 1] as const),
          ...(falses ?? []).map((text) => [text, 0] as const),
        ],
        other: other === undefined ? -1 : Number(other),
      };

const encodeBoolean = (text: string, out: RowBytes): void => {
  reserve(out, 5);
  putInt32(out, 1);
  out.bytes[out.at] = text === 't' ? 1 : 0;
  out.at += 1;
};

export const booleanType: ColumnType<boolean, BooleanOptions> = {
  sql: () => 'boolean',
  options: {
    true: { takes: 'texts', isSpelling: true },
    false: { takes: 'texts', isSpelling: true },
    else: { takes: 'flag' },
    spelling: spellingOption,
  },
  optionsProblem: booleanProblem,
  reader: (options) => {
    if (options.true !== undefined || options.false !== undefined) return declaredReader(options);
    return options.spelling === 'server' ? readWide : readWord;
  },
  bytes: booleanBytes,
  encode: encodeBoolean,
  value: () => ({ kind: 'boolean' }),
  toValue: (text) => text === 't',
  fromValue: (value) => (typeof value === 'boolean' ? booleanText(value) : undefined),
};
