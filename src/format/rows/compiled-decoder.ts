// The compiled decoder: bytes in, rows for COPY out, in binary or as text, without a string for a field of the usual kind.
//
// It may be unsure, but never wrong: a record that it does not accept as it is goes to the record judge, which also words the
// rejects, so rows and rejects are always those of the column readers. A record for which a function of the pipeline throws goes
// there, too: the judge calls it again, and reports where. Proved by test/unit/format/records/compiled-oracle.test.ts, text-rows.test.ts
// beside it and test/integration/compiled.test.ts.

import type { FilterSpec, ReadTable } from '../../core/declaration/declaration.ts';
import type { Reject } from '../../core/model.ts';
import type { Decoder, RowEncoder } from './decoder.ts';
import { createRecordFilter } from './record-filter.ts';
import { unquotedReader } from '../records/null-tokens.ts';
import { fieldsOf, type DecodedFile } from '../records/file-fields.ts';
import { neededFields } from './header-check.ts';
import { BACKSLASH, grammarOf } from '../split/grammar.ts';
import { createRecordJudge, filtered, rejectOf, type Judgement } from './record-judge.ts';
import type { Faulty } from '../records/record-parser.ts';
import { createRowBytes, reserve } from '../types/row-bytes.ts';
import { nullMark } from '../records/raw-fields.ts';
import { createRowPlan } from './row-plan.ts';
import { beginRows, encodeWindow, fieldText, isQuotedField, type RowTable } from './row-routine.ts';
import { binaryForm, textForm, type RowForm } from './row-form.ts';
import { createTestEncoder, createTextEncoder } from './text-encoder.ts';
import { windowsOf } from './windows.ts';

/** The table for the row routine, for this file. */
const createRowTable = (table: ReadTable, file: DecodedFile, form: RowForm): RowTable => {
  const { dialect } = table.format;
  const { header } = file;
  const ofFile = fieldsOf(file, dialect);
  const plan = createRowPlan(table, ofFile, form);
  const fields: (string | undefined)[] = header.map(() => '');
  const readUnquoted = unquotedReader(dialect);
  const nullText = dialect.escapes === null ? undefined : nullMark;
  /** Whether the current record satisfies filters. */
  const testOf = (filters: readonly FilterSpec[]): (() => boolean) => {
    const isTrue = createRecordFilter(filters, ofFile, dialect);
    const slots = neededFields([], filters)
      .map(ofFile.placeOf)
      .filter((place) => header[place] !== undefined)
      .map((place) => [plan.slotPlaces.indexOf(place), place] as const);
    return () => {
      for (const [slot, place] of slots) {
        const text = fieldText(slot);
        const read = isQuotedField(slot) ? text : readUnquoted(text);
        fields[place] = read === nullText ? undefined : read;
      }
      return isTrue(fields);
    };
  };
  return {
    plan,
    delimiter: Buffer.from(dialect.delimiter),
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

/**
 * Makes the compiled decoder of a table, for a file.
 * With `encodeRow`, rows are of COPY's text format. Everything wrong with the data is a reject.
 */
export const createCompiledDecoder = (
  table: ReadTable,
  file: DecodedFile,
  encodeRow?: RowEncoder,
): Decoder => {
  const { quote, escape, escapesAll, delimiter } = grammarOf(
    table.format.dialect,
    file.header.length,
    file.lineEnd,
  );
  /** Only csv-parse reads escapes within quotes other than a doubled quote. */
  const foreignEscape = escape === quote ? -1 : escape;
  /** Between delimiters of one byte, and where there are no quotes, `\N` is easily seen. */
  const nulls = escapesAll && quote === -1 && delimiter.length === 1 ? delimiter[0] : undefined;
  const judge = createRecordJudge(table, file);
  const form = encodeRow === undefined ? binaryForm : textForm(encodeRow);
  const rowTable = createRowTable(table, file, form);
  const putRow = form.putRowOf(table.columns);
  const out = createRowBytes(0);
  return (block) => {
    const { bytes } = block;
    out.at = 0;
    reserve(out, bytes.length);
    const rejects: Reject[] = [];
    const records = block.spans.starts.length;
    let copied = 0;
    const take = (judgement: Judgement, index: number): void => {
      if (judgement === filtered) return;
      if (Array.isArray(judgement)) {
        putRow(judgement, out);
        copied += 1;
      } else rejects.push(rejectOf(block, index, judgement as Faulty));
    };
    const hasQuote = quote !== -1 && bytes.includes(quote);
    beginRows(rowTable, hasQuote ? quote : -1);
    const unquoted = hasQuote ? foreignEscape : -1;
    const escaping = escapesAll ? BACKSLASH : unquoted;
    for (const { from, to, isFit } of windowsOf(block, escaping, nulls)) {
      if (!isFit) judge(block, from, to, take);
      else
        for (const part of encodeWindow(block, from, to, out)) {
          copied += part.copied;
          if (part.isUnsure) judge(block, part.next, part.next + 1, take);
        }
    }
    const rejected = rejects.length;
    const counts = { records, copied, rejected, filtered: records - copied - rejected };
    return { copyBytes: out.bytes.subarray(0, out.at), counts, rejects };
  };
};
