// Reads the header of a file.

import { isUtf8 } from 'node:buffer';
import { composed } from '../../core/characters.ts';
import type { Dialect, LineEnd } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { headerBytesMax, recordBytesMax } from '../../core/limits.ts';
import { rejectCodes } from '../../core/model.ts';
import type { ReadBytes } from '../../core/read-bytes.ts';
import { otherTextHint } from './content.ts';
import { isQuoteFault, reasonOf } from './raw-fields.ts';
import { recordFields } from './record-fields.ts';
import { countLines, findLineEnd, grammarOf, startsWith } from './grammar.ts';
import { createSplitter, type RecordSpans, type Splitter } from './splitter.ts';

export interface FileHeader {
  /** Trimmed, in file order. Empty strings if the file names no fields. */
  readonly names: readonly string[];
  /** Line of the names. If the dialect gives the names: the data's first line. */
  readonly line: number;
  readonly dataByte: number;
  readonly dataLine: number;
  readonly lineEnd: LineEnd;
}

export interface HeaderFile {
  readonly table: string;
  readonly file: string;
}

interface HeadReader {
  readonly read: ReadBytes;
  readonly splitter: Splitter;
  byte: number;
  line: number;
  readonly invalid: (problem: string, hint?: string) => EtlError;
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

const likelyHint = (head: Buffer): string =>
  otherTextHint(head.toString('utf8', 0, 1024)) ?? 'Check delimiter, quote and skipLines of the source.';

const endless = `its first lines do not end within ${headerBytesMax} bytes`;

const moveOn = (reader: HeadReader, bytes: Buffer, taken: number): void => {
  reader.byte += taken;
  reader.line += countLines(bytes, 0, taken, reader.splitter.newline);
};

const passLines = async (reader: HeadReader, count: number): Promise<void> => {
  for (let left = count; left > 0;) {
    const bytes = await reader.read(reader.byte, headerBytesMax);
    const isLast = bytes.length < headerBytesMax;
    let at = 0;
    for (; left > 0 && at < bytes.length; left -= 1) {
      const line = reader.splitter.firstLine(bytes.subarray(at), isLast);
      if (line === undefined) break;
      at += line.next;
    }
    if (at === 0 && !isLast) throw reader.invalid(endless);
    moveOn(reader, bytes, at);
    if (isLast) return;
  }
};

const passComment = async (reader: HeadReader): Promise<void> => {
  for (;;) {
    const bytes = await reader.read(reader.byte, headerBytesMax);
    const isLast = bytes.length < headerBytesMax;
    const line = reader.splitter.firstLine(bytes, isLast);
    // Reads the last byte again, because it may be the first half of a line end.
    moveOn(reader, bytes, line?.next ?? bytes.length - 1);
    if (line !== undefined) return;
  }
};

const findRecord = async (
  reader: HeadReader,
): Promise<{ readonly bytes: Buffer; readonly spans: RecordSpans } | undefined> => {
  const { read, splitter, invalid } = reader;
  for (;;) {
    const bytes = await read(reader.byte, headerBytesMax);
    const isLast = bytes.length < headerBytesMax;
    const spans = splitter.split(bytes, isLast);
    if (spans.starts.length > 0) return { bytes, spans };
    if (isLast) return undefined;
    reader.byte += spans.consumed;
    reader.line += spans.newlines;
    if (spans.consumed > 0) continue;
    if (!splitter.isComment(bytes)) throw invalid(endless);
    await passComment(reader);
  }
};

/** Returns the declared line end; for 'auto', the first line end in the file. */
const lineEndOf = async (read: ReadBytes, start: number, dialect: Dialect): Promise<LineEnd> => {
  if (dialect.lineEnd !== 'auto') return dialect.lineEnd;
  const grammar = grammarOf(dialect, 2, 'lf');
  let [from, size] = [start, headerBytesMax];
  for (let isRaw = dialect.skipLines > 0; ;) {
    const bytes = await read(from, size);
    const isLast = bytes.length < size;
    isRaw ||= grammar.comment !== undefined && startsWith(bytes, 0, grammar.comment);
    const found = findLineEnd(bytes, isLast, grammar, isRaw);
    const isHopeless = isLast || (!isRaw && size > headerBytesMax);
    if (found !== undefined || isHopeless) return found ?? 'lf';
    // Comments and skipped lines may be longer than any buffer. A record may not.
    if (isRaw) from += bytes.length - 1;
    else size = recordBytesMax + 2;
  }
};

/**
 * Reads a file's header. Lines before the data, except comments, must end within `headerBytesMax`
 * bytes. `positions` is the highest position that a column names: with `header: false`, shorter
 * records are padded. Errors: ETL_SOURCE_EMPTY, ETL_HEADER_INVALID, ETL_HEADER_REPEATED.
 */
export const readHeader = async (
  read: ReadBytes,
  dialect: Dialect,
  named: HeaderFile,
  positions = 0,
): Promise<FileHeader> => {
  const head = await read(0, headerBytesMax);
  const start = startsWith(head, 0, byteOrderMark) ? byteOrderMark.length : 0;
  const lineEnd = await lineEndOf(read, start, dialect);
  const splitter = createSplitter(dialect, 2, lineEnd);
  const reader: HeadReader = {
    read,
    splitter,
    byte: start,
    line: 1,
    invalid: (problem, hint = likelyHint(head)) =>
      new EtlError('ETL_HEADER_INVALID', { ...named, line: reader.line, problem, hint }),
  };
  await passLines(reader, dialect.skipLines);
  if (Array.isArray(dialect.header))
    return await givenHeader(reader, dialect, dialect.header, lineEnd, named);
  const data = { dataByte: reader.byte, dataLine: reader.line };
  const first = await readNames(reader, dialect);
  if (first === undefined) throw new EtlError('ETL_SOURCE_EMPTY', { ...named });
  const { line } = first;
  if (dialect.header === false)
    return { names: namesless(first.names.length, dialect, positions), line, ...data, lineEnd };
  let { names } = first;
  for (let left = dialect.headerLines - 1; left > 0; left -= 1) {
    const next = await readNames(reader, dialect);
    if (next === undefined) throw reader.invalid(`it has fewer than ${dialect.headerLines} lines`);
    names = joinNames(names, next.names);
  }
  return { names, line, dataByte: reader.byte, dataLine: reader.line, lineEnd };
};

const namesless = (fields: number, { ragged }: Dialect, positions: number): readonly string[] => {
  const padded = ragged === 'pad' ? Math.max(fields, positions) : fields;
  const length = ragged === 'cut' && positions > 0 ? Math.min(fields, positions) : padded;
  return Array.from({ length }, () => '');
};

const joinNames = (above: readonly string[], below: readonly string[]): readonly string[] =>
  Array.from({ length: Math.max(above.length, below.length) }, (_, field) =>
    [above[field], below[field]].filter(Boolean).join(' '),
  );

const readNames = async (
  reader: HeadReader,
  dialect: Dialect,
): Promise<{ readonly names: readonly string[]; readonly line: number } | undefined> => {
  const found = await findRecord(reader);
  if (found === undefined) return undefined;
  const { bytes, spans } = found;
  const [from, to] = [spans.starts[0]!, spans.ends[0]!];
  const fault = spans.faults.get(0) ?? undefined;
  const line = (reader.line += spans.lines[0]!);
  if (fault !== undefined && fault !== 'quote') throw reader.invalid(rejectCodes[fault]);
  const names = parseNames(bytes.subarray(from, to), dialect, reader.invalid);
  // The parser's error says more about a misplaced quote.
  if (fault !== undefined) throw reader.invalid(rejectCodes[fault]);
  // A blank line after the header is data: in a file with one field it is a record.
  const after = to + reader.splitter.firstLine(bytes.subarray(to), true)!.next;
  reader.line = line + countLines(bytes, from, after, reader.splitter.newline);
  reader.byte += after;
  return { names, line };
};

const givenHeader = async (
  reader: HeadReader,
  dialect: Dialect,
  names: readonly string[],
  lineEnd: LineEnd,
  named: HeaderFile,
): Promise<FileHeader> => {
  const { byte: dataByte, line } = reader;
  const found = await firstFields(reader, dialect);
  const given = new Set(names.map(composed));
  if (names.length > 1 && found?.length === names.length && found.every((name) => given.has(composed(name))))
    throw new EtlError('ETL_HEADER_REPEATED', { ...named, line: reader.line, skip: reader.line });
  return { names, line, dataByte, dataLine: line, lineEnd };
};

/** Returns the first record's fields. Undefined if it is faulty: the load will report it. */
const firstFields = async (reader: HeadReader, dialect: Dialect): Promise<readonly string[] | undefined> => {
  try {
    const found = await findRecord(reader);
    if (found === undefined || found.spans.faults.get(0) != null) return undefined;
    const { bytes, spans } = found;
    reader.line += spans.lines[0]!;
    return parseNames(bytes.subarray(spans.starts[0], spans.ends[0]), dialect, reader.invalid);
  } catch (error) {
    if (error instanceof EtlError) return undefined;
    throw error;
  }
};

const parseNames = (line: Buffer, dialect: Dialect, invalid: HeadReader['invalid']): string[] => {
  if (line.includes(0))
    throw invalid(
      'it has a NUL byte: the file is binary, or in UTF-16',
      "If it is text, declare its encoding: csv(…, { encoding: 'utf-16le' }), or { path: …, encoding: 'utf-16le' } for this file only.",
    );
  if (!isUtf8(line))
    throw invalid(
      'it is not valid text in the encoding of the file, which is UTF-8 unless you declare another',
      "Declare its encoding, such as csv(…, { encoding: 'windows-1252' }), or { path: …, encoding: … } for this file only.",
    );
  const names = recordFields(line, dialect);
  if (isQuoteFault(names)) throw invalid(reasonOf(names, []));
  return names.map((name) => name.trim());
};
