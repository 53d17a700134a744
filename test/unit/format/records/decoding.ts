// Decodes a file with a declared table: rows, rejects and counts.

import { createRecordDecoder } from './record-decoder.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import type { LineEnd } from '../../../../src/core/declaration.ts';
import type { Counts, Reject } from '../../../../src/core/model.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { blocksOf, decodeBlocks, decodedFile, tableOf } from './reading.ts';

export interface Declared {
  readonly options?: CsvOptions;
  readonly columns?: object;
  readonly filter?: unknown;
  readonly header?: readonly string[];
  /** The line end that was found in the file. */
  readonly lineEnd?: LineEnd;
}

export const texts = { a: column.text('a').nullable(), b: column.text('b').nullable() };
const start = { byte: 100, line: 2, record: 1 };

interface Decoded {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly rejects: readonly Reject[];
  readonly counts: Counts;
}

/** Decodes a file whose data begins at byte 100, line 2. Returns rows as lists. */
export const decode = async (input: string | Buffer, declared: Declared = {}): Promise<Decoded> => {
  const { options = {}, columns = texts, filter, header = ['a', 'b'], lineEnd = 'lf' } = declared;
  const table = tableOf(options, { columns, ...(filter === undefined ? {} : { filter }) });
  const toLine = (values: readonly (string | null)[]): string => `${JSON.stringify(values)}\n`;
  const decoder = createRecordDecoder(table, decodedFile(header, lineEnd, 'a.csv'), toLine);
  const split = createSplitter(table.format.dialect, header.length, lineEnd);
  const blocks = await blocksOf([Buffer.from(input as string)], split, start);
  const decoded = decodeBlocks(blocks, decoder);
  const sum = (key: keyof Counts): number => decoded.reduce((total, { counts }) => total + counts[key], 0);
  const lines = Buffer.concat(decoded.map(({ copyBytes }) => copyBytes))
    .toString()
    .split('\n')
    .slice(0, -1);
  return {
    rows: lines.map((line) => JSON.parse(line)),
    rejects: decoded.flatMap(({ rejects }) => rejects),
    counts: {
      records: sum('records'),
      copied: sum('copied'),
      rejected: sum('rejected'),
      filtered: sum('filtered'),
    },
  };
};
