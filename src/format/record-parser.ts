// Fields of the records that the splitter found, or why a record has none.
//
// Without quotes, the fields are the texts between delimiters. Otherwise csv-parse reads many records at once; if it refuses them, or
// counts other records than the splitter, each record is parsed by itself to find the one at fault.

import { isAscii, isUtf8 } from 'node:buffer';
import type { Options } from 'csv-parse/sync';
import type { Dialect, LineEnd, SourceTableSpec } from '../declaration.ts';
import { rejectCodes, type Fault, type RejectCode } from '../model.ts';
import { csvOptions, csvRewriter, hasQuote, joinRecords } from './csv-options.ts';
import { fieldName, isCsvFault, readCsv, reasonOf } from './csv-parse.ts';
import { escapedFields } from './escaped-fields.ts';
import { trimBlanks } from './blanks.ts';
import type { FileFields } from './file-fields.ts';
import { BACKSLASH, grammarOf, type Grammar } from './split/grammar.ts';
import { isStorable } from './raw-text.ts';
import type { RecordBlock } from './split/record-blocks.ts';

/** A record with at least one fault. */
export interface Faulty {
  readonly faults: readonly Fault[];
  /** Its fields that are text: their columns may have faults, too. */
  readonly fields?: readonly (string | undefined)[];
}

/** A field is undefined where it is null as the dialect writes that. */
export type ParsedRecord = readonly (string | undefined)[] | Faulty;

export const isFaulty = (record: ParsedRecord): record is Faulty => !Array.isArray(record);

export const faultOf = (
  code: RejectCode,
  reason: string = rejectCodes[code],
  column: string | null = null,
): Faulty => ({
  faults: [{ column, code, reason }],
});

export const recordBytes = ({ bytes, spans }: RecordBlock, index: number): Buffer =>
  bytes.subarray(spans.starts[index], spans.ends[index]);

/** The parts of a file's parser. */
interface Parsing {
  readonly table: SourceTableSpec;
  readonly fields: FileFields;
  readonly grammar: Grammar;
  readonly options: Options;
  readonly rewrite: ReturnType<typeof csvRewriter>;
}

/** The column that is made of the field, if any. */
const columnOfField = (
  table: SourceTableSpec,
  { header, placeOf }: FileFields,
  field: number,
): string | null =>
  // One that is cut has the place of a text of the file.
  field >= header.length
    ? null
    : (table.columns.find(({ headers }) => headers.some((ref) => placeOf(ref) === field))?.name ?? null);

/** What bytes are that are no text: transcoding leaves what is no character of its encoding as a byte that UTF-8 does not have. */
const codeOfBytes = (bytes: Buffer, { format }: SourceTableSpec): RejectCode => {
  if (isUtf8(bytes)) return 'nul_byte';
  return format.encoding === 'utf-8' ? 'invalid_utf8' : 'encoding';
};

/** Fields that cannot be stored as text, each a fault. `latin` are bytes read as latin1. */
const badBytes = (latin: readonly (string | undefined)[], { table, fields }: Parsing): Faulty => {
  const faults: Fault[] = [];
  const texts = latin.map((field, index) => {
    if (field === undefined) return undefined;
    const bytes = Buffer.from(field, 'latin1');
    if (isStorable(bytes)) return bytes.toString();
    const code = codeOfBytes(bytes, table);
    const reason = `${rejectCodes[code]}, in ${fieldName(fields.header, index)}`;
    faults.push({ column: columnOfField(table, fields, index), code, reason });
    return undefined;
  });
  return { faults, fields: texts };
};

/** Fields of a text without a quote. */
const splitFields = (text: string, { delimiter, trim }: SourceTableSpec['format']['dialect']): string[] => {
  const fields = text.split(delimiter);
  return trim === 'outside' ? fields.map(trimBlanks) : fields;
};

/** Parses a record with backslashes that escape: each field is text, null, or a fault. */
const parseEscaped = (
  bytes: Buffer,
  escapes: NonNullable<Dialect['escapes']>,
  parsing: Parsing,
): ParsedRecord => {
  const fields = escapedFields(bytes, parsing.grammar, escapes);
  if (fields.every((field) => field === null || isStorable(field)))
    return fields.map((field) => field?.toString());
  return badBytes(
    fields.map((field) => field?.toString('latin1')),
    parsing,
  );
};

/** Parses one record by itself; every violation of the dialect becomes a fault. */
const parseAlone = (bytes: Buffer, parsing: Parsing): ParsedRecord => {
  const { table, fields, grammar, options, rewrite } = parsing;
  if (bytes.length === 0) return [''];
  const { escapes } = table.format.dialect;
  if (escapes !== null && bytes.includes(BACKSLASH)) return parseEscaped(bytes, escapes, parsing);
  const isFine = isStorable(bytes);
  if (isFine && !hasQuote(bytes, grammar)) return splitFields(bytes.toString(), table.format.dialect);
  const csv = rewrite === undefined ? bytes : rewrite(bytes);
  const read = readCsv(csv, isFine ? options : { ...options, encoding: 'latin1' });
  if (isCsvFault(read)) {
    const column = read.field === undefined ? null : columnOfField(table, fields, read.field);
    return faultOf('quote', reasonOf(read, fields.header), column);
  }
  const [record] = read;
  if (isFine) return record ?? [''];
  const bad = badBytes(record ?? [], parsing);
  // Bytes between fields, which belong to none.
  return bad.faults.length > 0 ? bad : faultOf(codeOfBytes(bytes, table));
};

/** Fields of records [from, to) of a block that are text without a quote. */
const splitRecords = (
  { bytes, spans: { starts, ends } }: RecordBlock,
  from: number,
  to: number,
  { table }: Parsing,
): readonly ParsedRecord[] => {
  const encoding = isAscii(bytes.subarray(starts[from], ends[to - 1])) ? 'latin1' : 'utf8';
  const { dialect } = table.format;
  return Array.from({ length: to - from }, (_, index) =>
    splitFields(bytes.toString(encoding, starts[from + index], ends[from + index]), dialect),
  );
};

/** The bytes of records [from, to) of a block, rewritten for csv-parse. */
const csvBytes = (block: RecordBlock, from: number, to: number, { grammar, rewrite }: Parsing): Buffer => {
  const { spans, bytes } = block;
  if (rewrite === undefined && spans.plain)
    return bytes.subarray(spans.starts[from], spans.starts[to] ?? bytes.length);
  const records = Array.from({ length: to - from }, (_, index) => recordBytes(block, from + index));
  return joinRecords(rewrite === undefined ? records : records.map(rewrite), grammar);
};

/** Fields of records [from, to) of the block, in order, or the record's fault. */
const parseRecords = (
  block: RecordBlock,
  from: number,
  to: number,
  parsing: Parsing,
): readonly ParsedRecord[] => {
  const { starts, ends, faults } = block.spans;
  const bytes = block.bytes.subarray(starts[from], ends[to - 1]);
  let faulty = from;
  while (faulty < to && (faults.get(faulty) ?? null) === null) faulty += 1;
  const isEscaped = parsing.grammar.escapesAll && bytes.includes(BACKSLASH);
  if (faulty === to && !isEscaped && isStorable(bytes)) {
    if (!hasQuote(bytes, parsing.grammar)) return splitRecords(block, from, to, parsing);
    const records = readCsv(csvBytes(block, from, to, parsing), parsing.options);
    if (!isCsvFault(records) && records.length === to - from) return records;
  }
  return Array.from({ length: to - from }, (_, index) => parseRecord(block, from + index, parsing));
};

/** One record of a block by itself. */
const parseRecord = (block: RecordBlock, index: number, parsing: Parsing): ParsedRecord => {
  const code = block.spans.faults.get(index) ?? undefined;
  if (code === 'record_too_long') return faultOf(code);
  const record = parseAlone(recordBytes(block, index), parsing);
  // A fault of the splitter takes precedence over csv-parse's reading of the record; it usually says more.
  return code === undefined || isFaulty(record) ? record : faultOf(code);
};

/** Records [from, to) of a block, in order. */
export type RecordParser = (block: RecordBlock, from: number, to: number) => readonly ParsedRecord[];

/** Makes the parser of a table for files with these fields and line ends. */
export const createRecordParser = (
  table: SourceTableSpec,
  fields: FileFields,
  lineEnd: LineEnd,
): RecordParser => {
  const { dialect } = table.format;
  const grammar = grammarOf(dialect, fields.header.length, lineEnd);
  const parsing = {
    table,
    fields,
    grammar,
    options: csvOptions(dialect, grammar),
    rewrite: csvRewriter(dialect, grammar),
  };
  return (block, from, to) => parseRecords(block, from, to, parsing);
};
