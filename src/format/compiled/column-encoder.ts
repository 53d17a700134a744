// One column of the compiled decoder: null tokens, bytes read directly, everything else by the column's own reader.

import type { ColumnSpec, Dialect } from '../../declaration.ts';
import { isRefusal } from '../column-types/contract.ts';
import { columnTypes } from '../column-types/registry.ts';
import { createFieldReader } from '../field-reader.ts';
import { byteReaderOf, type ByteReader } from './byte-readers.ts';
import { putBytes, putNull, reserve, type RowBytes } from './row-bytes.ts';
import { valueEncoders } from './value-encoders.ts';

/** Where the fields of the current record stand, trimmed as the dialect says. */
export interface FieldPlaces {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Writes the column's value and returns true; false: the record is refused, or at least this column is not sure. */
export type ColumnEncoder = (bytes: Buffer, fields: FieldPlaces, out: RowBytes) => boolean;

type TokenTest = (bytes: Buffer, start: number, end: number) => boolean;

/** True when the bytes from `start` are the token. A loop: tokens are short, and a call into native code is not free. */
const isToken = (bytes: Buffer, start: number, token: Buffer): boolean => {
  for (let index = 0; index < token.length; index += 1)
    if (bytes[start + index] !== token[index]) return false;
  return true;
};

/** True when the bytes are one of the texts. */
const isOneOf = (texts: readonly string[]): TokenTest => {
  const tokens = texts.map((text) => Buffer.from(text));
  // A bit for each length that a token has, which most fields have not; long tokens share the last bit.
  let lengths = 0;
  for (const { length } of tokens) lengths |= 1 << Math.min(length, 31);
  return (bytes, start, end) => {
    if (((lengths >>> Math.min(end - start, 31)) & 1) === 0) return false;
    for (let index = 0; index < tokens.length; index += 1) {
      const token = tokens[index]!;
      if (token.length === end - start && isToken(bytes, start, token)) return true;
    }
    return false;
  };
};

/** What is written for a missing value; undefined: the record is refused. */
const missingEncoder = (column: ColumnSpec): ((out: RowBytes) => void) | undefined => {
  if (column.default === undefined) return column.nullable ? putNull : undefined;
  const encoded: RowBytes = { bytes: Buffer.alloc(64), at: 0 };
  valueEncoders[column.type]!(column.default, encoded);
  const value = Buffer.from(encoded.bytes.subarray(0, encoded.at));
  return (out) => {
    reserve(out, value.length);
    putBytes(out, value, 0, value.length);
  };
};

/** Words of a boolean are few: each is read once, then known by its bytes. */
const rememberedBoolean = (column: ColumnSpec): ByteReader => {
  const read = columnTypes.boolean.reader(column.options);
  const encode = valueEncoders.boolean!;
  const known = new Map<number, string>();
  return (bytes, start, end, out) => {
    if (end - start > 3) return false;
    let key = 1;
    for (let at = start; at < end; at += 1) key = key * 256 + bytes[at]!;
    let text = known.get(key);
    if (text === undefined) {
      const result = read(bytes.toString('utf8', start, end));
      if (isRefusal(result)) return false;
      text = result;
      known.set(key, text);
    }
    encode(text, out);
    return true;
  };
};

/** Copies the parts of a glued column behind each other; returns the length, or -1 when a part is missing. */
const glueInto = (
  scratch: Buffer,
  indexes: readonly number[],
  bytes: Buffer,
  { starts, ends }: FieldPlaces,
  isNull: TokenTest,
): number => {
  let length = 0;
  for (const index of indexes) {
    const [start, end] = [starts[index]!, ends[index]!];
    if (isNull(bytes, start, end)) return -1;
    if (length + end - start > scratch.length) return scratch.length + 1;
    for (let at = start; at < end; at += 1) scratch[length++] = bytes[at]!;
  }
  return length;
};

/** Longest glued value that is read from bytes: no date is longer. */
const scratchBytes = 64;

/** The column's own reader, over a record of which only the needed fields are texts. */
const textEncoder = (
  column: ColumnSpec,
  header: readonly string[],
  dialect: Dialect,
  missing: (out: RowBytes) => void,
): ColumnEncoder => {
  const indexes = column.headers.map((name) => header.indexOf(name));
  const read = createFieldReader(column, header, dialect);
  const encode = valueEncoders[column.type]!;
  const fields: string[] = header.map(() => '');
  return (bytes, { starts, ends }, out) => {
    for (const index of indexes) fields[index] = bytes.toString('utf8', starts[index], ends[index]);
    const text = read(fields);
    if (text === null) missing(out);
    else if (isRefusal(text)) return false;
    else encode(text, out);
    return true;
  };
};

const refuse = (): boolean => false;

/** Puts a column together; everything that depends on its declaration is decided here, once. */
export const createColumnEncoder = (
  column: ColumnSpec,
  header: readonly string[],
  dialect: Dialect,
): ColumnEncoder => {
  const missing = missingEncoder(column);
  const byText = textEncoder(column, header, dialect, missing ?? refuse);
  const read = column.type === 'boolean' ? rememberedBoolean(column) : byteReaderOf(column);
  if (read === undefined) return byText;
  const isNull = isOneOf([...dialect.nulls, ...column.nulls]);
  const tokens = Object.keys(column.tokens);
  const isReplaced = tokens.length === 0 ? undefined : isOneOf(tokens);
  const indexes = column.headers.map((name) => header.indexOf(name));
  const putMissing = (out: RowBytes): boolean => {
    if (missing === undefined) return false;
    missing(out);
    return true;
  };
  if (indexes.length > 1) {
    const scratch = Buffer.alloc(scratchBytes);
    return (bytes, fields, out) => {
      const length = glueInto(scratch, indexes, bytes, fields, isNull);
      if (length === -1) return putMissing(out);
      const isFit = length <= scratchBytes && isReplaced?.(scratch, 0, length) !== true;
      return (isFit && read(scratch, 0, length, out)) || byText(bytes, fields, out);
    };
  }
  const index = indexes[0]!;
  return (bytes, fields, out) => {
    const start = fields.starts[index]!;
    const end = fields.ends[index]!;
    if (isNull(bytes, start, end)) return putMissing(out);
    if (isReplaced?.(bytes, start, end) !== true && read(bytes, start, end, out)) return true;
    return byText(bytes, fields, out);
  };
};
