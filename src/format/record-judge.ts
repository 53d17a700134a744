// Judges records by their fields and the column readers: values, faults, or dropped by a filter.
//
// The splitter has already said where each record is. Where no quote stands, the fields are what is between delimiters.
// Otherwise csv-parse reads many records at once; only when it refuses them, or counts other records than the splitter,
// is each record parsed by itself to find the one at fault.

import { isAscii, isUtf8 } from 'node:buffer';
import type { Options } from 'csv-parse/sync';
import type { SourceTableSpec } from '../declaration.ts';
import { EtlError, messageOf } from '../errors.ts';
import { rejectCodes, type Fault, type Position, type Reject, type RejectCode } from '../model.ts';
import { onOneLine, plural } from '../wording.ts';
import { isRefusal } from './column-types/contract.ts';
import { csvBytes, csvOptions, hasQuote } from './csv-options.ts';
import { CsvError, parse } from './csv-parse.ts';
import { createFieldReader } from './field-reader.ts';
import { isStorable, rawText } from './raw-text.ts';
import { createRecordFilter } from './record-filter.ts';
import type { RecordBlock } from './record-blocks.ts';

/** Faults that are kept of one record: a shifted record has one a column, and ten thousand rejects are in memory at once. */
export const faultsKeptMax = 20;

/** A record with faults, one at least. */
export interface Faulty {
  readonly faults: readonly Fault[];
  /** What its fields hold where that is text: their columns may have faults, too. */
  readonly fields?: readonly (string | undefined)[];
}

type ParsedRecord = readonly string[] | Faulty;

const isFaulty = (record: ParsedRecord): record is Faulty => !Array.isArray(record);

const faultOf = (
  code: RejectCode,
  reason: string = rejectCodes[code],
  column: string | null = null,
): Faulty => ({
  faults: [{ column, code, reason }],
});

export const filtered = Symbol('filtered');

/** What becomes of one record: a row's values, its faults, or nothing because a filter dropped it. */
export type Judgement = readonly (string | null)[] | Faulty | typeof filtered;

export const recordBytes = ({ bytes, spans }: RecordBlock, index: number): Buffer =>
  bytes.subarray(spans.starts[index], spans.ends[index]);

/** Column whose value is made of the field, if one is declared. */
const columnOfField = (table: SourceTableSpec, header: readonly string[], field: number): string | null =>
  table.columns.find(({ headers }) => headers.includes(header[field] ?? ''))?.name ?? null;

/** A field as people count it, with its name in the header: `field 2 (price)`. */
const fieldName = (header: readonly string[], field: number): string =>
  `field ${field + 1}${header[field] === undefined ? '' : ` (${onOneLine(header[field])})`}`;

/** Fields that cannot be stored as text, each a fault. `fields` are bytes read as latin1. */
const badBytes = (fields: readonly string[], table: SourceTableSpec, header: readonly string[]): Faulty => {
  const faults: Fault[] = [];
  const texts = fields.map((field, index) => {
    const bytes = Buffer.from(field, 'latin1');
    if (isStorable(bytes)) return bytes.toString();
    const code = isUtf8(bytes) ? 'nul_byte' : 'invalid_utf8';
    const reason = `${rejectCodes[code]}, in ${fieldName(header, index)}`;
    faults.push({ column: columnOfField(table, header, index), code, reason });
    return undefined;
  });
  return { faults, fields: texts };
};

/** What csv-parse found, in our words: it counts fields from 0. */
const quoteReasons: Readonly<Record<string, (field: string) => string>> = {
  INVALID_OPENING_QUOTE: (field) => `a quote stands within ${field}, which does not begin with one`,
  CSV_INVALID_CLOSING_QUOTE: (field) => `text follows the closing quote of ${field}`,
  CSV_QUOTE_NOT_CLOSED: (field) => `the quote that begins ${field} is never closed`,
};

const quoteFault = (
  { code, column: field }: InstanceType<typeof CsvError>,
  table: SourceTableSpec,
  header: readonly string[],
): Faulty => {
  const wording = quoteReasons[code];
  if (wording === undefined || typeof field !== 'number') return faultOf('quote');
  return faultOf('quote', wording(fieldName(header, field)), columnOfField(table, header, field));
};

/** Parses one record by itself; every way in which it is not a record of the dialect becomes a fault. */
const parseAlone = (
  bytes: Buffer,
  options: Options,
  table: SourceTableSpec,
  header: readonly string[],
): ParsedRecord => {
  if (bytes.length === 0) return [''];
  try {
    const { dialect } = table.source;
    const isFine = isStorable(bytes);
    if (isFine && !hasQuote(bytes, dialect)) return bytes.toString().split(dialect.delimiter);
    const csv = csvBytes(bytes, dialect);
    if (isFine) return parse(csv, options)[0] ?? [''];
    const [fields = []] = parse(csv, { ...options, encoding: 'latin1' });
    const bad = badBytes(fields, table, header);
    // Bytes between fields, which are none of a field.
    return bad.faults.length > 0 ? bad : faultOf(isUtf8(bytes) ? 'nul_byte' : 'invalid_utf8');
  } catch (error) {
    if (error instanceof CsvError) return quoteFault(error, table, header);
    throw error;
  }
};

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
  if (!hasFault && isStorable(bytes)) {
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
  return code === undefined || isFaulty(record) ? record : faultOf(code);
};

interface Judge {
  /** Count, filter, then every column. */
  readonly fields: (fields: readonly string[]) => Judgement;
  /** A record whose bytes are at fault: what else is wrong with it. */
  readonly rest: (record: Faulty) => Faulty;
}

const createJudge = (table: SourceTableSpec, header: readonly string[]): Judge => {
  const { dialect } = table.source;
  const keep = createRecordFilter(table.filter, header, dialect);
  const readers = table.columns.map((column) => createFieldReader(column, header, dialect));
  const isCountFine = (count: number): boolean =>
    count === header.length || (dialect.ragged === 'pad' && count < header.length);
  const countFault = (count: number): Faulty =>
    faultOf('field_count', `the record has ${plural(count, 'field')}, the header ${header.length}`);
  const judgeFields = (fields: readonly string[]): Judgement => {
    if (!isCountFine(fields.length)) return countFault(fields.length);
    if (!keep(fields)) return filtered;
    const values: (string | null)[] = [];
    const faults: Fault[] = [];
    for (let index = 0; index < readers.length; index += 1) {
      const value = readers[index]!(fields);
      if (value !== null && isRefusal(value)) faults.push({ ...value, column: table.columns[index]!.name });
      else values.push(value);
    }
    return faults.length === 0 ? values : { faults };
  };
  return {
    fields: judgeFields,
    rest: ({ faults, fields }) => {
      if (fields === undefined) return { faults };
      if (!isCountFine(fields.length)) return { faults: [...faults, ...countFault(fields.length).faults] };
      const others = table.columns.flatMap(({ name, headers }, index): Fault[] => {
        const isText = headers.every((field) => {
          const place = header.indexOf(field);
          return place >= fields.length || fields[place] !== undefined;
        });
        const value = isText ? readers[index]!(fields as readonly string[]) : null;
        return value !== null && isRefusal(value) ? [{ ...value, column: name }] : [];
      });
      return { faults: [...faults, ...others] };
    },
  };
};

const positionOf = ({ spans, position }: RecordBlock, index: number): Position => ({
  byte: position.byte + spans.starts[index]!,
  line: position.line + spans.lines[index]!,
  record: position.record + index,
});

/** The reject that its faults make of a record. */
export const rejectOf = (block: RecordBlock, index: number, { faults }: Faulty): Reject => {
  const [first, ...others] = faults;
  return {
    ...first!,
    ...(others.length > 0
      ? { others: { count: others.length, kept: others.slice(0, faultsKeptMax - 1) } }
      : {}),
    position: positionOf(block, index),
    raw: rawText(recordBytes(block, index)),
  };
};

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
    try {
      return isFaulty(record) ? judge.rest(record) : judge.fields(record);
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
