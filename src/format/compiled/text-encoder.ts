// One column whose bytes the row routine is not sure of: by the column's own reader, over the texts of its fields.

import type { ColumnSpec, Dialect } from '../../declaration.ts';
import { ok as assert } from 'node:assert';
import { isRefusal, serverReads } from '../column-types/contract.ts';
import { typeOf } from '../column-types/registry.ts';
import { createFieldReader } from '../field-reader.ts';
import { putNull, type RowBytes } from '../binary/row-bytes.ts';

/** Writes the column's value and returns true; false: the record is refused, or at least this column is not sure. */
export type TextEncoder = (out: RowBytes) => boolean;

/** The encoder of a column that is none for the server. */
export const encoderOf = (column: ColumnSpec): ((text: string, out: RowBytes) => void) => {
  const { encode } = typeOf(column);
  assert(encode !== serverReads, `column ${column.name} has no binary format`);
  // Every type writes into these: see ValueEncoder.
  return encode as (text: string, out: RowBytes) => void;
};

/** Makes the encoder of a column; `textOf` gives a field of the current record. */
export const createTextEncoder = (
  column: ColumnSpec,
  header: readonly string[],
  dialect: Dialect,
  textOf: (name: string) => string,
): TextEncoder => {
  const indexes = column.headers.map((name) => [name, header.indexOf(name)] as const);
  const read = createFieldReader(column, header, dialect);
  const encode = encoderOf(column);
  const fields: string[] = header.map(() => '');
  return (out) => {
    for (const [name, index] of indexes) fields[index] = textOf(name);
    const text = read(fields);
    if (text === null) putNull(out);
    else if (isRefusal(text)) return false;
    else encode(text, out);
    return true;
  };
};
