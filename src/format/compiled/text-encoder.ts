// One column over the texts of its fields: those that the row routine is not sure of, and those for functions of the pipeline.

import type { ColumnSpec } from '../../declaration.ts';
import { ok as assert } from 'node:assert';
import { isRefusal, serverReads } from '../column-types/contract.ts';
import { typeOf } from '../column-types/registry.ts';
import { createTextReader } from '../field-reader.ts';
import { putNull, type RowBytes } from '../binary/row-bytes.ts';

/**
 * Writes the value of a text that is no null token, and returns true; false: the record is refused, or at least this column is
 * not sure. A value that is written already, and that no function changes, is not written again.
 */
export type TextEncoder = (text: string, isWritten: boolean, out: RowBytes) => boolean;

/** The encoder of a column that is none for the server. */
export const encoderOf = (column: ColumnSpec): ((text: string, out: RowBytes) => void) => {
  const { encode } = typeOf(column);
  assert(encode !== serverReads, `column ${column.name} has no binary format`);
  // Every type writes into these: see ValueEncoder.
  return encode as (text: string, out: RowBytes) => void;
};

/** Makes the encoder of a column. */
export const createTextEncoder = (column: ColumnSpec): TextEncoder => {
  const read = createTextReader(column);
  const encode = encoderOf(column);
  return (text, isWritten, out) => {
    const value = read(text);
    if (value === null) putNull(out);
    else if (isRefusal(value)) return false;
    else if (!isWritten || value !== text) encode(value, out);
    return true;
  };
};
