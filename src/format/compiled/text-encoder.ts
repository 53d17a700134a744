// One column over the texts of its fields: those that the row routine is not sure of, and those for functions of the pipeline.

import type { ColumnSpec } from '../../declaration.ts';
import { isRefusal } from '../column-types/contract.ts';
import { createTextReader } from '../field-reader.ts';
import type { RowBytes } from '../binary/row-bytes.ts';
import type { RowForm } from './row-form.ts';

/**
 * Writes the value of a text that is no null token, and returns true; false: the record is refused, or at least this column is
 * not sure. A value that is written already, and that no function changes, is not written again.
 */
export type TextEncoder = (text: string, isWritten: boolean, out: RowBytes) => boolean;

/** Makes the encoder of a column. */
export const createTextEncoder = (column: ColumnSpec, { putValueOf }: RowForm): TextEncoder => {
  const read = createTextReader(column);
  const put = putValueOf(column);
  return (text, isWritten, out) => {
    const value = read(text);
    if (value !== null && isRefusal(value)) return false;
    if (!isWritten || value !== text) put(value, out);
    return true;
  };
};
