// Decodes records with the row routine (WebAssembly), which leaves unusual records undecided.
// record-judge.ts decodes these records, and words all rejects. So the result is the same as with
// record-judge.ts alone. Proved by compiled-oracle.test.ts and text-rows.test.ts in
// test/unit/format/records, and test/integration/compiled.test.ts.

import { BACKSLASH } from '../../core/characters.ts';
import type { FilterSpec, ReadTable } from '../../core/declaration.ts';
import type { Reject } from '../../core/model.ts';
import type { Decoder, RowEncoder } from './decoder.ts';
import { createRecordFilter } from './record-filter.ts';
import { unquotedReader } from '../records/null-tokens.ts';
import { fieldsOf, type DecodedFile } from '../records/file-fields.ts';
import { neededFields } from './header-check.ts';
import { grammarOf } from '../records/grammar.ts';
import { createRecordJudge, filtered, rejectOf, type Judgement } from './record-judge.ts';
import type { Faulty } from '../records/record-parser.ts';
import { createRowBytes, reserve } from '../types/row-bytes.ts';
import { nullMark } from '../records/raw-fields.ts';
import { createRowPlan } from './row-plan.ts';
import { beginRows, encodeWindow, fieldText, isQuotedField, type RowTable } from './row-routine.ts';
import { binaryForm, textForm, type RowForm } from './row-form.ts';
import { createTestEncoder, createTextEncoder } from './text-encoder.ts';
import { windowsOf } from './windows.ts';

const createRowTable = (table: ReadTable, file: DecodedFile, form: RowForm): RowTable => {
  const { dialect } = table.format;
  const { header } = file;
  const ofFile = fieldsOf(file, dialect);
  const plan = createRowPlan(table, ofFile, form);
  const fields: (string | undefined)[] = header.map(() => '');
  const readUnquoted = unquotedReader(dialect);
  const nullText = dialect.escapes === null ? undefined : nullMark;
  const testOf = (filters: readonly FilterSpec[]): (() => boolean) => {
    const isTrue = createRecordFilter(filters, ofFile, dialect);
    const slots = neededFields([], filters)
      .map(ofFile.indexOf)
      .filter((index) => header[index] !== undefined)
      .map((index) => [plan.slotFields.indexOf(index), index] as const);
    return () => {
      for (const [slot, index] of slots) {
        const text = fieldText(slot);
        const read = isQuotedField(slot) ? text : readUnquoted(text);
        fields[index] = read === nullText ? undefined : read;
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
  const foreignEscape = escape === quote ? -1 : escape;
  /** The routine recognizes `\N` only without quotes, and between one-byte delimiters. */
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
