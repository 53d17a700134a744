// What both ways of decoding a file share: its table in the form of the row routines, and the judge
// of records that these leave.

import type { ReadTable } from '../../core/declaration.ts';
import type { DecodedFile } from '../records/file-fields.ts';
import type { RowBytes } from '../types/row-bytes.ts';
import type { RowEncoder } from './decoder.ts';
import { createRecordJudge, type RecordJudge } from './record-judge.ts';
import { binaryForm, textForm } from './row-form.ts';
import type { RowTable } from './row-routine.ts';
import { createRowTable } from './row-table.ts';

export interface RowMaker {
  readonly table: RowTable;
  readonly judge: RecordJudge;
  readonly putRow: (values: readonly (string | null)[], out: RowBytes) => void;
}

/** `encodeRow` is given if rows are in COPY's text format. */
export const createRowMaker = (table: ReadTable, file: DecodedFile, encodeRow?: RowEncoder): RowMaker => {
  const form = encodeRow === undefined ? binaryForm : textForm(encodeRow);
  return {
    table: createRowTable(table, file, form),
    judge: createRecordJudge(table, file),
    putRow: form.putRowOf(table.columns),
  };
};
