// Fields of a record with backslash escapes, as PostgreSQL's text format and MySQL write them.

import type { Dialect } from '../declaration.ts';
import { BACKSLASH, startsWith, type Grammar } from './split/grammar.ts';

type Escapes = NonNullable<Dialect['escapes']>;

/** What a character after a backslash means; any other one means itself. */
const letters: Readonly<Record<Escapes, ReadonlyMap<number, number>>> = {
  postgres: lettersOf({ b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }),
  mysql: lettersOf({ 0: 0, b: 8, t: 9, n: 10, r: 13, Z: 26 }),
};

function lettersOf(codes: Readonly<Record<string, number>>): ReadonlyMap<number, number> {
  return new Map(Object.entries(codes).map(([letter, code]) => [letter.charCodeAt(0), code]));
}

/** A byte that is written by its number, after the backslash; undefined when it is not. */
const numberAt = (
  record: Buffer,
  at: number,
  escapes: Escapes,
): { readonly byte: number; readonly end: number } | undefined => {
  if (escapes !== 'postgres') return undefined;
  const [octal] = /^[0-7]{1,3}/.exec(record.toString('latin1', at, at + 3)) ?? [];
  if (octal !== undefined) return { byte: Number.parseInt(octal, 8) & 0xff, end: at + octal.length };
  const [hex] = /^x[\da-f]{1,2}/i.exec(record.toString('latin1', at, at + 3)) ?? [];
  const isHex = hex?.startsWith('x') === true;
  return isHex ? { byte: Number.parseInt(hex.slice(1), 16), end: at + hex.length } : undefined;
};

/** Reads one field from `from` on. */
const fieldAt = (
  record: Buffer,
  from: number,
  { delimiter, quote }: Grammar,
  escapes: Escapes,
): { readonly content: Buffer | null; readonly end: number } => {
  const isQuoted = record[from] === quote;
  const start = isQuoted ? from + 1 : from;
  const content: number[] = [];
  let at = start;
  let end = -1;
  for (; end === -1 && at < record.length;) {
    const byte = record[at]!;
    if (byte === BACKSLASH) {
      const number = numberAt(record, at + 1, escapes);
      const next = record[at + 1];
      if (number !== undefined) content.push(number.byte);
      // Nothing follows the last byte of a file.
      else if (next !== undefined) content.push(letters[escapes].get(next) ?? next);
      at = number?.end ?? at + 2;
    } else if (isQuoted && byte === quote) {
      if (record[at + 1] !== quote) end = at;
      else content.push(quote);
      at += 2;
    } else if (!isQuoted && startsWith(record, at, delimiter)) end = at;
    else {
      content.push(byte);
      at += 1;
    }
  }
  if (end === -1) end = record.length;
  const isNull = record.toString('latin1', start, end) === String.raw`\N`;
  return {
    content: isNull ? null : Buffer.from(content),
    end: isQuoted ? Math.min(end + 1, record.length) : end,
  };
};

/** The fields of a record that the splitter found without a fault; null: `\N`. */
export const escapedFields = (
  record: Buffer,
  grammar: Grammar,
  escapes: Escapes,
): readonly (Buffer | null)[] => {
  const fields: (Buffer | null)[] = [];
  for (let at = 0; ; at += grammar.delimiter.length) {
    const { content, end } = fieldAt(record, at, grammar, escapes);
    fields.push(content);
    at = end;
    if (at >= record.length) return fields;
  }
};
