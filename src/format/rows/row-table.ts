// What the row routines (WebAssembly) need of a table and a file.

import type { FilterSpec, ReadTable } from '../../core/declaration.ts';
import { fieldsOf, type DecodedFile } from '../records/file-fields.ts';
import { grammarOf } from '../records/grammar.ts';
import { unquotedReader } from '../records/null-tokens.ts';
import { nullMark } from '../records/raw-fields.ts';
import { neededFields } from './header-check.ts';
import { createRecordFilter } from './record-filter.ts';
import type { RowForm } from './row-form.ts';
import { createRowPlan } from './row-plan.ts';
import type { RowTable } from './row-routine.ts';
import { createTestEncoder, createTextEncoder, type PlacedFields } from './text-encoder.ts';

export const createRowTable = (table: ReadTable, file: DecodedFile, form: RowForm): RowTable => {
  const { dialect } = table.format;
  const { header } = file;
  const ofFile = fieldsOf(file, dialect);
  const plan = createRowPlan(table, ofFile, form);
  const fields: (string | undefined)[] = header.map(() => '');
  const readUnquoted = unquotedReader(dialect);
  const nullText = dialect.escapes === null ? undefined : nullMark;
  const testOf = (filters: readonly FilterSpec[]): ((placed: PlacedFields) => boolean) => {
    const isTrue = createRecordFilter(filters, ofFile, dialect);
    const slots = neededFields([], filters)
      .map(ofFile.indexOf)
      .filter((index) => header[index] !== undefined)
      .map((index) => [plan.slotFields.indexOf(index), index] as const);
    return (placed) => {
      for (const [slot, index] of slots) {
        const text = placed.textOf(slot);
        const read = placed.isQuoted(slot) ? text : readUnquoted(text);
        fields[index] = read === nullText ? undefined : read;
      }
      return isTrue(fields);
    };
  };
  return {
    plan,
    grammar: grammarOf(dialect, header.length, file.lineEnd),
    trim: dialect.trim,
    between: header.length - 1,
    columns: table.columns.length,
    encoders: table.columns.map((column) =>
      column.test === undefined
        ? createTextEncoder(column, form)
        : createTestEncoder(column, testOf(column.test), form),
    ),
    isTextFormat: form.isTextFormat,
    isCut: dialect.ragged === 'cut',
    isWanted: table.filter.length === 0 ? undefined : testOf(table.filter),
  };
};
