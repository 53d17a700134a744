// Helpers for tests of reading: declared tables, and bytes cut into pieces for the splitter.

import type { LineEnd, ReadTable, SourceTableSpec } from '../../../../src/core/declaration.ts';
import type { DecodedBlock, Decoder } from '../../../../src/format/rows/decoder.ts';
import type { DecodedFile } from '../../../../src/format/records/file-fields.ts';
import {
  positionAfter,
  recordBlocks,
  type RecordBlock,
} from '../../../../src/format/records/record-blocks.ts';
import { createSplitter, type Splitter } from '../../../../src/format/records/splitter.ts';
import type { Position } from '../../../../src/core/model.ts';
import { bindPipeline } from '../../../../src/pipeline/bind.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { csv, type CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { definePipeline, type Pipeline } from '../../../../src/pipeline/define-pipeline.ts';

/** The table for files of its first reading. */
export const firstRead = (table: SourceTableSpec): ReadTable => ({ ...table, ...table.readings[0]! });

const boundTable = (table: object): SourceTableSpec => {
  const pipeline = definePipeline({ name: 'p', schema: 's', tables: { t: table } } as never) as Pipeline;
  return bindPipeline(pipeline, { directory: '/' }).tables[0] as SourceTableSpec;
};

/** Declares a table as a user would, for its files. `more`: columns, filters and other options. */
export const tableOf = (
  options: CsvOptions,
  more: object = { columns: { a: column.text('a') } },
): ReadTable => firstRead(boundTable({ source: csv('a.csv', options), ...more }));

/** The table for files of one of its locations. */
export const tableOfLocation = (declared: object, location: string): ReadTable => {
  const table = boundTable(declared);
  const { source, format } = table.readings.find((one) => one.source.locations.includes(location))!;
  return { ...table, source: { ...source, locations: [location] }, format };
};

/** A file with this header, as decoders see it. */
export const decodedFile = (
  header: readonly string[],
  lineEnd: LineEnd = 'lf',
  name = 'f',
  constants: DecodedFile['constants'] = {},
): DecodedFile => ({ name, header, lineEnd, constants });

export const splitterOf = (options: CsvOptions, fields = 2, lineEnd: LineEnd = 'lf'): Splitter =>
  createSplitter(tableOf(options).format.dialect, fields, lineEnd);

/** Rows as lists. One written as a text has `|` between its fields, and `∅` for null. */
export const rowsOf = (
  rows: readonly (string | readonly (string | null)[])[],
): readonly (readonly (string | null)[])[] =>
  rows.map((row) =>
    typeof row === 'string' ? row.split('|').map((field) => (field === '∅' ? null : field)) : row,
  );

export const startOfFile: Position = { byte: 0, line: 1, record: 1 };

export async function* inPieces(pieces: readonly Buffer[]): AsyncGenerator<Buffer, void> {
  yield* pieces;
}

/** Splits pieces of bytes into blocks. */
export const blocksOf = async (
  pieces: readonly Buffer[],
  split: Splitter,
  start = startOfFile,
): Promise<readonly RecordBlock[]> => {
  const blocks: RecordBlock[] = [];
  for await (const block of recordBlocks(inPieces(pieces), start, split)) blocks.push(block);
  return blocks;
};

/** Splits pieces of bytes as the dialect of a table says. */
export const blocksIn = (table: ReadTable, pieces: readonly Buffer[], fields = 2) =>
  blocksOf(pieces, createSplitter(table.format.dialect, fields, 'lf'));

/** One record found by the splitter: position in the file, text, fault. */
interface SplitRecord extends Position {
  readonly text: string;
  readonly fault?: string | null;
}

interface SplitFile {
  readonly records: readonly SplitRecord[];
  readonly end: Position;
}

const recordsOf = ({ bytes, spans, position }: RecordBlock): SplitRecord[] =>
  Array.from(spans.starts, (start, index) => {
    const fault = spans.faults.get(index);
    return {
      byte: position.byte + start,
      line: position.line + spans.lines[index]!,
      record: position.record + index,
      text: bytes.toString('utf8', start, spans.ends[index]),
      ...(fault === undefined ? {} : { fault }),
    };
  });

/** All records of the pieces, and the position after the last byte. */
export const splitPieces = async (pieces: readonly Buffer[], split: Splitter): Promise<SplitFile> => {
  const blocks = await blocksOf(pieces, split);
  const last = blocks.at(-1);
  return { records: blocks.flatMap(recordsOf), end: last === undefined ? startOfFile : positionAfter(last) };
};

/** Cuts bytes at these offsets, which are in order. */
export const cutAt = (bytes: Buffer, ...places: readonly number[]): Buffer[] =>
  [0, ...places].map((place, index) => bytes.subarray(place, places[index] ?? bytes.length));

/** What a decoder makes of blocks. Copies rows, because the decoder reuses their memory. */
export const decodeBlocks = (blocks: readonly RecordBlock[], decode: Decoder): DecodedBlock[] =>
  blocks.map((block) => {
    const decoded = decode(block);
    return { ...decoded, copyBytes: Buffer.from(decoded.copyBytes) };
  });
