// Judges records by their fields and the column readers: values, a fault, or dropped by a filter.
//
// The splitter has already said where each record is. Where no quote stands, the fields are what is between delimiters.
// Otherwise csv-parse reads many records at once; only when it refuses them, or counts other records than the splitter,
// is each record parsed by itself to find the one at fault.

import { isAscii, isUtf8 } from 'node:buffer';
import type { Options } from 'csv-parse/sync';
import type { SourceTableSpec } from '../declaration.ts';
import { EtlError, messageOf } from '../errors.ts';
import { rejectCodes, type Position, type Reject, type RejectCode } from '../model.ts';
import { onOneLine, plural } from '../wording.ts';
import { isRefusal, type Refusal } from './column-types/contract.ts';
import { csvBytes, csvOptions, hasQuote } from './csv-options.ts';
import { CsvError, parse } from './csv-parse.ts';
import { createFieldReader } from './field-reader.ts';
import { badField, rawText } from './raw-text.ts';
import { createRecordFilter } from './record-filter.ts';
import type { RecordBlock } from './record-blocks.ts';

export interface Fault extends Refusal {
  /** Column of the pipeline; null: the whole record. */
  readonly column: string | null;
}

type ParsedRecord = readonly string[] | Fault;

const isFault = (record: ParsedRecord): record is Fault => !Array.isArray(record);

const faultOf = (code: RejectCode, reason: string = rejectCodes[code]): Fault => ({
  code,
  reason,
  column: null,
});

export const filtered = Symbol('filtered');

/** What becomes of one record: a row's values, a fault, or nothing because a filter dropped it. */
export type Judgement = readonly (string | null)[] | Fault | typeof filtered;

export const recordBytes = ({ bytes, spans }: RecordBlock, index: number): Buffer =>
  bytes.subarray(spans.starts[index], spans.ends[index]);

/** Column whose value is made of the field, if one is declared. */
const columnOfField = (table: SourceTableSpec, header: readonly string[], field: number): string | null =>
  table.columns.find(({ headers }) => headers.includes(header[field] ?? ''))?.name ?? null;

const whereInRecord = (header: readonly string[], field: number): string =>
  field === -1
    ? ''
    : `, in field ${field + 1}${header[field] === undefined ? '' : ` (${onOneLine(header[field])})`}`;

/** Parses one record by itself; every way in which it is not a record of the dialect becomes a fault. */
const parseAlone = (
  bytes: Buffer,
  options: Options,
  table: SourceTableSpec,
  header: readonly string[],
): ParsedRecord => {
  if (bytes.length === 0) return [''];
  const isText = isUtf8(bytes);
  try {
    const { dialect } = table.source;
    const isFine = isText && !bytes.includes(0);
    if (isFine && !hasQuote(bytes, dialect)) return bytes.toString().split(dialect.delimiter);
    const csv = csvBytes(bytes, dialect);
    if (isFine) return parse(csv, options)[0] ?? [''];
    const [fields = []] = parse(csv, { ...options, encoding: 'latin1' });
    const field = badField(fields);
    const code = isText ? 'nul_byte' : 'invalid_utf8';
    const reason = `${rejectCodes[code]}${whereInRecord(header, field)}`;
    return { code, reason, column: columnOfField(table, header, field) };
  } catch (error) {
    if (error instanceof CsvError) return faultOf('quote', `${rejectCodes.quote}: ${firstSentence(error)}`);
    throw error;
  }
};

const firstSentence = (error: Error): string => error.message.split(/,| at line/)[0] ?? '';

/** Records that are parsed together: what they leave behind is collected while it is young, which a whole block's is not. */
const recordsAtOnce = 256;

/** Fields of records [from, to) of a block that are text without a quote. */
const splitRecords = (
  { bytes, spans: { starts, ends } }: RecordBlock,
  from: number,
  to: number,
  delimiter: string,
): readonly ParsedRecord[] => {
  const encoding = isAscii(bytes.subarray(starts[from], ends[to - 1])) ? 'latin1' : 'utf8';
  return Array.from({ length: to - from }, (_, index) =>
    bytes.toString(encoding, starts[from + index], ends[from + index]).split(delimiter),
  );
};

/** Fields of records [from, to) of the block, in order, or the record's fault. */
const parseRecords = (
  block: RecordBlock,
  from: number,
  to: number,
  options: Options,
  table: SourceTableSpec,
  header: readonly string[],
): readonly ParsedRecord[] => {
  const { starts, faults } = block.spans;
  const bytes = block.bytes.subarray(starts[from], starts[to] ?? block.bytes.length);
  const hasFault = [...faults.keys()].some((index) => index >= from && index < to);
  if (!hasFault && isUtf8(bytes) && !bytes.includes(0)) {
    const { dialect } = table.source;
    if (!hasQuote(bytes, dialect)) return splitRecords(block, from, to, dialect.delimiter);
    try {
      const records = parse(csvBytes(bytes, dialect), options);
      if (records.length === to - from) return records;
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
    }
  }
  return Array.from({ length: to - from }, (_, index) =>
    parseRecord(block, from + index, options, table, header),
  );
};

/** One record of a block by itself. */
const parseRecord = (
  block: RecordBlock,
  index: number,
  options: Options,
  table: SourceTableSpec,
  header: readonly string[],
): ParsedRecord => {
  const code = block.spans.faults.get(index);
  if (code === 'record_too_long') return faultOf(code);
  const record = parseAlone(recordBytes(block, index), options, table, header);
  // A fault of the splitter stands, whatever csv-parse makes of the record; it usually says more about it.
  return code === undefined || isFault(record) ? record : faultOf(code);
};

/** Judges the fields of one record: count, filter, then every column. The first fault is the record's. */
const createJudge = (
  table: SourceTableSpec,
  header: readonly string[],
): ((fields: readonly string[]) => Judgement) => {
  const { dialect } = table.source;
  const keep = createRecordFilter(table.filter, header, dialect);
  const readers = table.columns.map((column) => createFieldReader(column, header, dialect));
  const isCountFine = (count: number): boolean =>
    count === header.length || (dialect.ragged === 'pad' && count < header.length);
  return (fields) => {
    if (!isCountFine(fields.length))
      return faultOf(
        'field_count',
        `the record has ${plural(fields.length, 'field')}, the header ${header.length}`,
      );
    if (!keep(fields)) return filtered;
    const values: (string | null)[] = [];
    for (let index = 0; index < readers.length; index += 1) {
      const value = readers[index]!(fields);
      if (value !== null && isRefusal(value)) return { ...value, column: table.columns[index]!.name };
      values.push(value);
    }
    return values;
  };
};

const positionOf = ({ spans, position }: RecordBlock, index: number): Position => ({
  byte: position.byte + spans.starts[index]!,
  line: position.line + spans.lines[index]!,
  record: position.record + index,
});

/** The reject that a fault makes of a record. */
export const rejectOf = (block: RecordBlock, index: number, { code, reason, column }: Fault): Reject => ({
  position: positionOf(block, index),
  column,
  code,
  reason,
  raw: rawText(recordBytes(block, index)),
});

export interface RecordJudge {
  /** Every record of a block, in order, with its place there. */
  readonly judgeBlock: (block: RecordBlock, take: (judgement: Judgement, index: number) => void) => void;
  /** One record of a block. */
  readonly judgeAlone: (block: RecordBlock, index: number) => Judgement;
}

/**
 * Makes the judge of a table for files with this header.
 *
 * Errors: ETL_USER_FUNCTION when a function of the pipeline throws. Everything wrong with the data is a fault.
 */
export const createRecordJudge = (
  table: SourceTableSpec,
  header: readonly string[],
  file: string,
): RecordJudge => {
  const options = csvOptions(table.source.dialect, header.length > 1);
  const judge = createJudge(table, header);
  const judgeRecord = (record: ParsedRecord, block: RecordBlock, index: number): Judgement => {
    if (isFault(record)) return record;
    try {
      return judge(record);
    } catch (cause) {
      const { line } = positionOf(block, index);
      const details = { table: table.name, file, line, problem: messageOf(cause) };
      throw new EtlError('ETL_USER_FUNCTION', details, { cause });
    }
  };
  return {
    judgeBlock: (block, take) => {
      const count = block.spans.starts.length;
      for (let from = 0; from < count; from += recordsAtOnce) {
        const to = Math.min(from + recordsAtOnce, count);
        const records = parseRecords(block, from, to, options, table, header);
        for (let index = from; index < to; index += 1)
          take(judgeRecord(records[index - from]!, block, index), index);
      }
    },
    judgeAlone: (block, index) =>
      judgeRecord(parseRecord(block, index, options, table, header), block, index),
  };
};
