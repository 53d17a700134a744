// Reads the fields of one record as bytes, in every dialect, or finds the misplaced quote.

import { BACKSLASH } from '../../core/characters.ts';
import type { Dialect } from '../../core/declaration.ts';
import { onOneLine } from '../../core/wording.ts';
import { isBlankByte, isEscape, startsWith, type Grammar } from './grammar.ts';

type Escapes = NonNullable<Dialect['escapes']>;

/** The text for null in a dialect with backslash escapes. */
export const nullMark = String.raw`\N`;

export interface RawField {
  readonly content: Buffer | null;
  readonly isQuoted: boolean;
}

export interface QuoteFault {
  readonly fault: keyof typeof reasons;
  readonly field: number;
}

export const isQuoteFault = (read: readonly unknown[] | QuoteFault): read is QuoteFault =>
  !Array.isArray(read);

const reasons = {
  stray: (field: string) => `there is a quote within ${field}, which does not begin with one`,
  text: (field: string) => `text follows the closing quote of ${field}`,
  open: (field: string) => `the quote that begins ${field} is never closed`,
};

/** Text for messages, for example `field 2 (price)`, counted from 1. */
export const fieldName = (header: readonly string[], field: number): string => {
  const name = header[field] ?? '';
  return `field ${field + 1}${name === '' ? '' : ` (${onOneLine(name)})`}`;
};

export const reasonOf = ({ fault, field }: QuoteFault, header: readonly string[]): string =>
  reasons[fault](fieldName(header, field));

const lettersOf = (codes: Readonly<Record<string, number>>): ReadonlyMap<number, number> =>
  new Map(Object.entries(codes).map(([letter, code]) => [letter.charCodeAt(0), code]));

/** What characters after a backslash mean. Other characters mean themselves. */
const letters: Readonly<Record<Escapes, ReadonlyMap<number, number>>> = {
  postgres: lettersOf({ b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }),
  mysql: lettersOf({ 0: 0, b: 8, t: 9, n: 10, r: 13, Z: 26 }),
  any: new Map(),
};

/** Reads \0 to \377, or \x0 to \xff. */
const numberAt = (
  record: Buffer,
  at: number,
): { readonly byte: number; readonly end: number } | undefined => {
  const [digits] = /^(?:[0-7]{1,3}|x[\da-f]{1,2})/i.exec(record.toString('latin1', at, at + 3)) ?? [];
  if (digits === undefined || digits.startsWith('X')) return undefined;
  const byte = digits.startsWith('x') ? Number.parseInt(digits.slice(1), 16) : Number.parseInt(digits, 8);
  return { byte: byte & 0xff, end: at + digits.length };
};

const escapedAt = (
  record: Buffer,
  at: number,
  escapes: Escapes,
): { readonly bytes: Buffer; readonly end: number } => {
  const number = escapes === 'postgres' ? numberAt(record, at + 1) : undefined;
  if (number !== undefined) return { bytes: Buffer.of(number.byte), end: number.end };
  const next = record[at + 1];
  return {
    bytes: next === undefined ? Buffer.of() : Buffer.of(letters[escapes].get(next) ?? next),
    end: at + 2,
  };
};

/** Reads a field up to `end`, its closing quote or delimiter; -1 for a quote in unquoted text. */
const contentAt = (
  record: Buffer,
  from: number,
  isQuoted: boolean,
  grammar: Grammar,
): { readonly content: Buffer; readonly end: number } => {
  const { delimiter, quote, escapes, isLenient } = grammar;
  const parts: Buffer[] = [];
  let [at, kept] = [from, from];
  while (at < record.length) {
    const byte = record[at]!;
    if (escapes !== null && byte === BACKSLASH) {
      const { bytes, end } = escapedAt(record, at, escapes);
      parts.push(record.subarray(kept, at), bytes);
      at = kept = Math.min(end, record.length);
    } else if (isQuoted && isEscape(record, at, grammar)) {
      parts.push(record.subarray(kept, at));
      kept = at + 1;
      at += 2;
    } else if (isQuoted ? byte === quote : byte === delimiter[0] && startsWith(record, at, delimiter)) break;
    else if (!isQuoted && !isLenient && byte === quote) return { content: record, end: -1 };
    else at += 1;
  }
  const rest = record.subarray(kept, at);
  return { content: parts.length === 0 ? rest : Buffer.concat([...parts, rest]), end: at };
};

const isNullMark = (record: Buffer, from: number, to: number, { escapes }: Grammar): boolean =>
  escapes !== null && record.toString('latin1', from, to) === nullMark;

const withoutBlanksAtEnd = (text: Buffer): Buffer => {
  let end = text.length;
  while (end > 0 && isBlankByte(text[end - 1])) end -= 1;
  return text.subarray(0, end);
};

const withoutBlanks = (text: Buffer): Buffer => {
  let start = 0;
  while (start < text.length && isBlankByte(text[start])) start += 1;
  return withoutBlanksAtEnd(text.subarray(start));
};

interface FoundField extends RawField {
  readonly end: number;
}

const delimiterFrom = (record: Buffer, from: number, { delimiter }: Grammar): number => {
  const found = record.indexOf(delimiter, from);
  return found === -1 ? record.length : found;
};

const quotedField = (record: Buffer, open: number, grammar: Grammar): FoundField | QuoteFault['fault'] => {
  const { trim, trimsPlain, isLenient } = grammar;
  const { content, end: close } = contentAt(record, open + 1, true, grammar);
  if (close >= record.length) return 'open';
  const end = delimiterFrom(record, close + 1, grammar);
  const tail = record.subarray(close + 1, end);
  const isNull = isNullMark(record, open + 1, close, grammar);
  if (tail.length === 0 || (trim && withoutBlanks(tail).length === 0))
    return { content: isNull ? null : content, isQuoted: true, end };
  if (!isLenient) return 'text';
  const text = trimsPlain ? withoutBlanksAtEnd(tail) : tail;
  return { content: Buffer.concat([content, text]), isQuoted: true, end };
};

const fieldAt = (record: Buffer, from: number, grammar: Grammar): FoundField | QuoteFault['fault'] => {
  let open = from;
  if (grammar.trim) {
    const last = delimiterFrom(record, from, grammar);
    while (open < last && isBlankByte(record[open])) open += 1;
  }
  if (record[open] === grammar.quote) return quotedField(record, open, grammar);
  const { content, end } = contentAt(record, from, false, grammar);
  if (end === -1) return 'stray';
  if (isNullMark(record, from, end, grammar)) return { content: null, isQuoted: false, end };
  return { content: grammar.trimsPlain ? withoutBlanks(content) : content, isQuoted: false, end };
};

export const rawFields = (record: Buffer, grammar: Grammar): readonly RawField[] | QuoteFault => {
  const fields: RawField[] = [];
  for (let at = 0; ; at += grammar.delimiter.length) {
    const found = fieldAt(record, at, grammar);
    if (typeof found === 'string') return { fault: found, field: fields.length };
    fields.push(found);
    at = found.end;
    if (at >= record.length) return fields;
  }
};
