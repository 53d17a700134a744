// Encodes texts in JavaScript: unusual spellings, and texts for user functions.

import type { ColumnSpec } from '../../core/declaration.ts';
import { booleanText } from '../types/boolean.ts';
import { isRefusal } from '../types/contract.ts';
import { createTextReader } from './field-reader.ts';
import type { RowBytes } from '../types/row-bytes.ts';
import type { RowForm } from './row-form.ts';

/** The fields of the current record, by the index of their slot. */
export interface PlacedFields {
  /** With `trim: true` the text is not trimmed yet. */
  readonly textOf: (slot: number) => string;
  readonly isQuoted: (slot: number) => boolean;
}

/**
 * Writes the value of a text, or returns false if it is refused. If the routine has written the
 * value (`isWritten`), it is written again only if a function changed it.
 */
export type TextEncoder = (text: string, isWritten: boolean, out: RowBytes, fields: PlacedFields) => boolean;

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

export const createTestEncoder = (
  column: ColumnSpec,
  isTrue: (fields: PlacedFields) => boolean,
  { putValueOf }: RowForm,
): TextEncoder => {
  const put = putValueOf(column);
  return (_text, _isWritten, out, fields) => {
    put(booleanText(isTrue(fields)), out);
    return true;
  };
};
