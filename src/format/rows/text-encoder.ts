// Encodes texts of one column: unusual spellings, and texts for functions of the pipeline.

import type { ColumnSpec } from '../../core/declaration/declaration.ts';
import { booleanText } from '../types/boolean.ts';
import { isRefusal } from '../types/contract.ts';
import { createTextReader } from './field-reader.ts';
import type { RowBytes } from '../types/row-bytes.ts';
import type { RowForm } from './row-form.ts';

/**
 * Writes the value of a text, which is no null token, and returns true; false: refused, or not sure. A written value that no function
 * changes is not written again.
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

/** The same for a column whose value is whether the current record satisfies a test. */
export const createTestEncoder = (
  column: ColumnSpec,
  isTrue: () => boolean,
  { putValueOf }: RowForm,
): TextEncoder => {
  const put = putValueOf(column);
  return (_text, _isWritten, out) => {
    put(booleanText(isTrue()), out);
    return true;
  };
};
