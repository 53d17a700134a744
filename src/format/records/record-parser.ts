// Parses records that the splitter found into fields, or into faults. csv-parse reads many quoted
// records at once. If it cannot, rawFields reads each record alone.

import { isAscii, isUtf8 } from 'node:buffer';
import type { Options } from 'csv-parse/sync';
import { BACKSLASH } from '../../core/characters.ts';
import type { LineEnd, ReadTable, Dialect } from '../../core/declaration.ts';
import { rejectCodes, type Fault, type RejectCode } from '../../core/model.ts';
import { fieldName, isQuoteFault, rawFields, reasonOf, type RawField } from './raw-fields.ts';
import { trimBlanks } from './blanks.ts';
import { unquotedReader } from './null-tokens.ts';
import type { FileFields } from './file-fields.ts';
import { grammarOf, type Grammar } from './grammar.ts';
import { isStorable } from './raw-text.ts';
import type { RecordBlock } from './record-blocks.ts';
import { createRequire } from 'node:module';
import type * as CsvParse from 'csv-parse/sync';

/** The CommonJS build is one file. With the ES build, each thread would load a dozen modules. */
const { CsvError, parse } = createRequire(import.meta.url)('csv-parse/sync') as typeof CsvParse;

const newlines = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/**
 * False if csv-parse misreads the dialect: it trims all of Unicode's white space, keeps the quotes
 * of `"a"b`, does not say which fields were quoted, and drops an escape before any character.
 */
export const isForCsvParse = ({ trim, quotes, escape, quote, quotedNulls }: Dialect): boolean =>
  trim === false && quotes === 'strict' && quotedNulls && (escape === null || escape === quote);

/** csv-parse gets records without comments and blank lines, with unified line ends. */
export const csvOptions = (dialect: Dialect, { lineEnd }: Grammar): CsvParse.Options => ({
  columns: false,
  bom: false,
  delimiter: dialect.delimiter,
  quote: dialect.quote,
  escape: dialect.quote,
  record_delimiter: newlines[lineEnd],
  relax_column_count: true,
  skip_empty_lines: false,
});

const readCsv = (bytes: Buffer, options: CsvParse.Options): readonly (readonly string[])[] | undefined => {
  try {
    return parse(bytes, options);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return undefined;
  }
};

export interface Faulty {
  readonly faults: readonly Fault[];
  /** The fields without faults. Their columns are checked too, and may add faults. */
  readonly fields?: readonly (string | undefined)[];
}

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

interface Parsing {
  readonly table: ReadTable;
  readonly fields: FileFields;
  readonly grammar: Grammar;
  readonly csvParse: Options | undefined;
  readonly readUnquoted: ReturnType<typeof unquotedReader>;
}

const columnOfField = (table: ReadTable, { header, indexOf }: FileFields, field: number): string | null =>
  // A field beyond the header belongs to no column.
  field >= header.length
    ? null
    : (table.columns.find(({ headers }) => headers.some((ref) => indexOf(ref) === field))?.name ?? null);

/** Returns what is wrong with the bytes. Conversion writes invalid UTF-8 for unknown characters. */
const codeOfBytes = (bytes: Buffer, { format }: ReadTable): RejectCode => {
  if (isUtf8(bytes)) return 'nul_byte';
  return format.encoding === 'utf-8' ? 'invalid_utf8' : 'encoding';
};

const badBytes = (raw: readonly RawField[], { table, fields, readUnquoted }: Parsing): Faulty => {
  const faults: Fault[] = [];
  const texts = raw.map(({ content, isQuoted }, index) => {
    if (content === null) return undefined;
    if (isStorable(content)) return isQuoted ? content.toString() : readUnquoted(content.toString());
    const code = codeOfBytes(content, table);
    const reason = `${rejectCodes[code]}, in ${fieldName(fields.header, index)}`;
    faults.push({ column: columnOfField(table, fields, index), code, reason });
    return undefined;
  });
  return { faults, fields: texts };
};

const splitFields = (text: string, { delimiter, trim }: ReadTable['format']['dialect']): string[] => {
  const fields = text.split(delimiter);
  return trim === 'outside' ? fields.map(trimBlanks) : fields;
};

const readAlone = (bytes: Buffer, parsing: Parsing): ParsedRecord => {
  const { table, fields, grammar } = parsing;
  const raw = rawFields(bytes, grammar);
  if (isQuoteFault(raw))
    return faultOf('quote', reasonOf(raw, fields.header), columnOfField(table, fields, raw.field));
  const bad = badBytes(raw, parsing);
  if (bad.faults.length > 0) return bad;
  // The bytes can be invalid although all fields are valid: a quote inside a multi-byte character.
  return grammar.escapesAll || isStorable(bytes) ? bad.fields! : faultOf(codeOfBytes(bytes, table));
};

const splitRecords = (
  { bytes, spans: { starts, ends } }: RecordBlock,
  from: number,
  to: number,
  { table, readUnquoted }: Parsing,
): readonly ParsedRecord[] => {
  const encoding = isAscii(bytes.subarray(starts[from], ends[to - 1])) ? 'latin1' : 'utf8';
  const { dialect } = table.format;
  return Array.from({ length: to - from }, (_, index) =>
    splitFields(bytes.toString(encoding, starts[from + index], ends[from + index]), dialect).map(
      readUnquoted,
    ),
  );
};

const csvBytes = (block: RecordBlock, from: number, to: number, { grammar }: Parsing): Buffer => {
  const { spans, bytes } = block;
  if (spans.plain) return bytes.subarray(spans.starts[from], spans.starts[to] ?? bytes.length);
  const newline = Buffer.from(newlines[grammar.lineEnd]);
  const records = Array.from({ length: to - from }, (_, index) => [
    recordBytes(block, from + index),
    newline,
  ]);
  return Buffer.concat(records.flat());
};

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
    const { quote } = parsing.grammar;
    if (quote === -1 || !bytes.includes(quote)) return splitRecords(block, from, to, parsing);
    const { csvParse } = parsing;
    const records = csvParse && readCsv(csvBytes(block, from, to, parsing), csvParse);
    if (records?.length === to - from) return records;
  }
  return Array.from({ length: to - from }, (_, index) => parseRecord(block, from + index, parsing));
};

const parseRecord = (block: RecordBlock, index: number, parsing: Parsing): ParsedRecord => {
  const code = block.spans.faults.get(index) ?? undefined;
  if (code === 'record_too_long') return faultOf(code);
  const record = readAlone(recordBytes(block, index), parsing);
  // rawFields names the field, so its fault says more than the splitter's.
  return code === undefined || isFaulty(record) ? record : faultOf(code);
};

export type RecordParser = (block: RecordBlock, from: number, to: number) => readonly ParsedRecord[];

export const createRecordParser = (table: ReadTable, fields: FileFields, lineEnd: LineEnd): RecordParser => {
  const { dialect } = table.format;
  const grammar = grammarOf(dialect, fields.header.length, lineEnd);
  const parsing = {
    table,
    fields,
    grammar,
    csvParse: isForCsvParse(dialect) ? csvOptions(dialect, grammar) : undefined,
    readUnquoted: unquotedReader(dialect),
  };
  return (block, from, to) => parseRecords(block, from, to, parsing);
};
