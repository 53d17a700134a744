// The compiled decoder: bytes in, rows of COPY's binary format out, without a text for a field of the usual kind.
//
// It may be unsure, but never wrong: a record that it does not take as it stands is judged by the record judge, which
// also words the rejects, so that both decoders give the same rows and the same rejects by construction.
// Proved by test/unit/format/compiled-oracle.test.ts and test/integration/compiled.test.ts.

import { isUtf8 } from 'node:buffer';
import type { SourceTableSpec } from '../../declaration.ts';
import type { Reject } from '../../model.ts';
import type { Decoder } from '../decoder.ts';
import type { RecordBlock } from '../record-blocks.ts';
import { createRecordFilter } from '../record-filter.ts';
import { createRecordJudge, filtered, rejectOf, type Fault, type Judgement } from '../record-judge.ts';
import { createColumnEncoder, type FieldPlaces } from './column-encoder.ts';
import { createRowBytes, putInt16, putNull, reserve, type RowBytes } from './row-bytes.ts';
import { valueEncoders } from './value-encoders.ts';

/** Why a table is not for the compiled decoder, as the end of a sentence; undefined when it is. */
export const compiledObstacle = ({ source, columns, filter }: SourceTableSpec): string | undefined => {
  const { delimiter, quote, escape, comment } = source.dialect;
  if (delimiter.length > 1 || delimiter.charCodeAt(0) > 0x7f) return 'its delimiter is more than one byte';
  if (quote !== null && escape !== quote) return 'its escape is not its quote';
  if (comment !== null) return 'it has comments';
  if (filter.some(({ kind }) => kind === 'when')) return 'its filter is a function';
  for (const { name, type, options, map, checks, schema } of columns) {
    if (map !== undefined || checks.length > 0 || schema !== undefined)
      return `column ${name} has a function`;
    if (valueEncoders[type] === undefined) return `column ${name} is of type ${options.sqlType ?? type}`;
  }
  return undefined;
};

const SPACE = 32;
const TAB = 9;

/** Finds the fields of a record without quotes; returns their number, at most one more than there is room for. */
const findFields = (
  bytes: Buffer,
  start: number,
  end: number,
  delimiter: number,
  { starts, ends }: FieldPlaces,
): number => {
  let field = 0;
  let from = start;
  const last = starts.length - 1;
  for (let at = start; at < end; at += 1) {
    if (bytes[at] !== delimiter) continue;
    if (field === last) return field + 2;
    starts[field] = from;
    ends[field] = at;
    field += 1;
    from = at + 1;
  }
  starts[field] = from;
  ends[field] = end;
  return field + 1;
};

/** Takes blanks and tabs off the fields with these indexes. */
const trimFields = (bytes: Buffer, indexes: readonly number[], { starts, ends }: FieldPlaces): void => {
  for (const index of indexes) {
    let start = starts[index]!;
    let end = ends[index]!;
    while (start < end && (bytes[start] === SPACE || bytes[start] === TAB)) start += 1;
    while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) end -= 1;
    starts[index] = start;
    ends[index] = end;
  }
};

/** Rows that the judge made, in binary. */
const createRowEncoder = ({
  columns,
}: SourceTableSpec): ((values: readonly (string | null)[], out: RowBytes) => void) => {
  const encoders = columns.map(({ type }) => valueEncoders[type]!);
  return (values, out) => {
    reserve(out, 2);
    putInt16(out, encoders.length);
    for (let index = 0; index < encoders.length; index += 1) {
      const value = values[index]!;
      if (value === null) putNull(out);
      else encoders[index]!(value, out);
    }
  };
};

/** true: encoded · false: dropped by a filter · undefined: let the judge see it. */
type RecordEncoder = (bytes: Buffer, start: number, end: number, out: RowBytes) => boolean | undefined;

const createRecordEncoder = (table: SourceTableSpec, header: readonly string[]): RecordEncoder => {
  const { dialect } = table.source;
  const delimiter = dialect.delimiter.charCodeAt(0);
  const fields = { starts: new Int32Array(header.length), ends: new Int32Array(header.length) };
  const encoders = table.columns.map((column) => createColumnEncoder(column, header, dialect));
  const used = [
    ...new Set(table.columns.flatMap(({ headers }) => headers.map((name) => header.indexOf(name)))),
  ];
  const trimmed = dialect.trim ? used : [];
  const keep = createRecordFilter(table.filter, header, dialect);
  const filterIndexes = table.filter.map((filter) =>
    header.indexOf(filter.kind === 'when' ? '' : filter.header),
  );
  const filterTexts: string[] = header.map(() => '');
  return (bytes, start, end, out) => {
    if (findFields(bytes, start, end, delimiter, fields) !== header.length) return undefined;
    for (const index of filterIndexes)
      filterTexts[index] = bytes.toString('utf8', fields.starts[index], fields.ends[index]);
    if (!keep(filterTexts)) return false;
    trimFields(bytes, trimmed, fields);
    reserve(out, 2);
    putInt16(out, encoders.length);
    for (let index = 0; index < encoders.length; index += 1)
      if (!encoders[index]!(bytes, fields, out)) return undefined;
    return true;
  };
};

/**
 * Makes the compiled decoder of a table without `compiledObstacle`, for files with this header.
 * Everything wrong with the data is a reject, as with the record decoder.
 */
export const createCompiledDecoder = (
  table: SourceTableSpec,
  header: readonly string[],
  file: string,
): Decoder => {
  const { quote } = table.source.dialect;
  const judge = createRecordJudge(table, header, file);
  const encodeRecord = createRecordEncoder(table, header);
  const encodeRow = createRowEncoder(table);
  const isPlain = ({ bytes, spans }: RecordBlock): boolean =>
    spans.faults.size === 0 &&
    (quote === null || !bytes.includes(quote)) &&
    isUtf8(bytes) &&
    !bytes.includes(0);
  return (block) => {
    const { bytes, spans } = block;
    const out = createRowBytes(bytes.length + 1024);
    const rejects: Reject[] = [];
    const records = spans.starts.length;
    let copied = 0;
    const take = (judgement: Judgement, index: number): void => {
      if (judgement === filtered) return;
      if (Array.isArray(judgement)) {
        encodeRow(judgement, out);
        copied += 1;
      } else rejects.push(rejectOf(block, index, judgement as Fault));
    };
    if (isPlain(block))
      for (let index = 0; index < records; index += 1) {
        const mark = out.at;
        const encoded = encodeRecord(bytes, spans.starts[index]!, spans.ends[index]!, out);
        if (encoded === true) copied += 1;
        else out.at = mark;
        if (encoded === undefined) take(judge.judgeAlone(block, index), index);
      }
    else for (const [index, judgement] of judge.judgeBlock(block).entries()) take(judgement, index);
    const rejected = rejects.length;
    const counts = { records, copied, rejected, filtered: records - copied - rejected };
    return { copyBytes: out.bytes.subarray(0, out.at), counts, rejects };
  };
};
