// COPY's binary format, or its text format if the server must read a column as text.

import { ok as assert } from 'node:assert';
import type { ColumnSpec } from '../../core/declaration.ts';
import {
  createRowBytes,
  putInt16,
  putNull,
  reserve,
  utf8BytesMax,
  type RowBytes,
} from '../types/row-bytes.ts';
import { serverReads } from '../types/contract.ts';
import { typeOf } from '../types/registry.ts';
import type { RowEncoder } from './decoder.ts';

type PutValue = (text: string | null, out: RowBytes) => void;

export interface RowForm {
  readonly isTextFormat: boolean;
  readonly putValueOf: (column: ColumnSpec) => PutValue;
  readonly putRowOf: (
    columns: readonly ColumnSpec[],
  ) => (values: readonly (string | null)[], out: RowBytes) => void;
}

export const encoderOf = (column: ColumnSpec): ((text: string, out: RowBytes) => void) => {
  const { encode } = typeOf(column);
  assert(encode !== serverReads, `column ${column.name} has no binary format`);
  // Encoders take RowBytes, although the type says `never`: see ValueEncoder.
  return encode as (text: string, out: RowBytes) => void;
};

export const binaryForm: RowForm = {
  isTextFormat: false,
  putValueOf: (column) => {
    const encode = encoderOf(column);
    return (text, out) => {
      if (text === null) putNull(out);
      else encode(text, out);
    };
  },
  putRowOf: (columns) => {
    const puts = columns.map(binaryForm.putValueOf);
    return (values, out) => {
      reserve(out, 2);
      putInt16(out, puts.length);
      for (let index = 0; index < puts.length; index += 1) puts[index]!(values[index]!, out);
    };
  },
};

const putString = (text: string, out: RowBytes): void => {
  reserve(out, utf8BytesMax(text));
  out.at += out.bytes.write(text, out.at);
};

export const textForm = (encodeRow: RowEncoder): RowForm => ({
  isTextFormat: true,
  putValueOf: () => (text, out) => putString(encodeRow([text]).slice(0, -1), out),
  putRowOf: () => (values, out) => putString(encodeRow(values), out),
});

export const bytesOfValue = (text: string | null, column: ColumnSpec, form: RowForm): Buffer => {
  const out = createRowBytes(64);
  form.putValueOf(column)(text, out);
  return Buffer.from(out.bytes.subarray(0, out.at));
};

const storing = new Set(['length', 'precision', 'scale', 'round', 'sqlType']);

/**
 * True if the column's reader returns accepted texts unchanged: types read PostgreSQL's own
 * spelling unless an option says otherwise. Proved by test/unit/format/records/text-rows.test.ts.
 */
export const keepsText = ({ type, options }: ColumnSpec): boolean =>
  type !== 'boolean' && Object.keys(options).every((name) => storing.has(name));
