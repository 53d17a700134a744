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
import { neededHeaders } from '../header.ts';
import {
  createRecordJudge,
  filtered,
  recordBytes,
  rejectOf,
  type Fault,
  type Judgement,
} from '../record-judge.ts';
import { createDelimiterList, listDelimitersOf, type DelimiterList } from '../simd/field-scan.ts';
import { createColumnEncoder } from './column-encoder.ts';
import { createUnquote, placeFields, trimFields } from './record-fields.ts';
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
type Outcome = boolean | undefined;

interface RecordEncoder {
  /** Looks for the delimiters of a block; `quote` is -1 when it holds none. */
  readonly begin: (block: RecordBlock, quote: number) => void;
  /** Encodes a record of it without a fault; records come in order. */
  readonly encode: (bytes: Buffer, start: number, end: number, out: RowBytes) => Outcome;
}

/** Delimiters of all records without a fault, which are runs between those that have one. */
const listAllDelimiters = (
  list: DelimiterList,
  { bytes, spans }: RecordBlock,
  delimiter: number,
  quote: number,
): void => {
  list.length = 0;
  let from = 0;
  for (const index of spans.faults.keys()) {
    listDelimitersOf(list, bytes, from, spans.starts[index]!, delimiter, quote);
    from = spans.ends[index]!;
  }
  listDelimitersOf(list, bytes, from, bytes.length, delimiter, quote);
};

const createRecordEncoder = (table: SourceTableSpec, header: readonly string[]): RecordEncoder => {
  const { dialect } = table.source;
  const delimiter = dialect.delimiter.charCodeAt(0);
  const fields = { starts: new Int32Array(header.length), ends: new Int32Array(header.length) };
  const encoders = table.columns.map((column) => createColumnEncoder(column, header, dialect));
  const keep = createRecordFilter(table.filter, header, dialect);
  const used = neededHeaders(table.columns, []).map((name) => header.indexOf(name));
  const filtering = neededHeaders([], table.filter).map((name) => header.indexOf(name));
  const wanted = [...new Set([...used, ...filtering])];
  const trimmed = dialect.trim ? used : [];
  const filterTexts: string[] = header.map(() => '');
  const between = header.length - 1;
  const list = createDelimiterList();
  const unquoted = createUnquote(dialect, dialect.quote?.charCodeAt(0) ?? -1);
  let hasQuotes = false;
  /** Of `list`: the first delimiter that is not before the next record. */
  let next = 0;
  return {
    begin: (block, quote) => {
      hasQuotes = quote !== -1;
      next = 0;
      listAllDelimiters(list, block, delimiter, quote);
    },
    encode: (block, start, end, out) => {
      const { places } = list;
      while (places[next]! < start) next += 1;
      const first = next;
      if (first + between > list.length || places[first + between]! < end) return undefined;
      if (between > 0 && !(places[first + between - 1]! < end)) return undefined;
      next = first + between;
      placeFields(places, first, start, end, wanted, fields);
      const bytes = hasQuotes ? unquoted(block, wanted, fields) : block;
      for (const index of filtering)
        filterTexts[index] = bytes.toString('utf8', fields.starts[index], fields.ends[index]);
      if (!keep(filterTexts)) return false;
      trimFields(bytes, trimmed, fields);
      reserve(out, 2);
      putInt16(out, encoders.length);
      for (let index = 0; index < encoders.length; index += 1)
        if (!encoders[index]!(bytes, fields, out)) return undefined;
      return true;
    },
  };
};

const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/**
 * Makes the compiled decoder of a table without `compiledObstacle`, for files with this header.
 * Everything wrong with the data is a reject, as with the record decoder.
 */
export const createCompiledDecoder = (
  table: SourceTableSpec,
  header: readonly string[],
  file: string,
): Decoder => {
  const quote = table.source.dialect.quote?.charCodeAt(0) ?? -1;
  const judge = createRecordJudge(table, header, file);
  const encoder = createRecordEncoder(table, header);
  const encodeRow = createRowEncoder(table);
  return (block) => {
    const { bytes, spans } = block;
    const { starts, ends, faults } = spans;
    const out = createRowBytes(bytes.length + 1024);
    const rejects: Reject[] = [];
    const records = starts.length;
    let copied = 0;
    const take = (judgement: Judgement, index: number): void => {
      if (judgement === filtered) return;
      if (Array.isArray(judgement)) {
        encodeRow(judgement, out);
        copied += 1;
      } else rejects.push(rejectOf(block, index, judgement as Fault));
    };
    const isAllText = isText(bytes);
    const isFit = (index: number): boolean =>
      !faults.has(index) && (isAllText || isText(recordBytes(block, index)));
    encoder.begin(block, quote !== -1 && bytes.includes(quote) ? quote : -1);
    const isAllFit = isAllText && faults.size === 0;
    for (let index = 0; index < records; index += 1) {
      const mark = out.at;
      const outcome =
        isAllFit || isFit(index) ? encoder.encode(bytes, starts[index]!, ends[index]!, out) : undefined;
      if (outcome === true) copied += 1;
      else out.at = mark;
      if (outcome === undefined) take(judge.judgeAlone(block, index), index);
    }
    const rejected = rejects.length;
    const counts = { records, copied, rejected, filtered: records - copied - rejected };
    return { copyBytes: out.bytes.subarray(0, out.at), counts, rejects };
  };
};
