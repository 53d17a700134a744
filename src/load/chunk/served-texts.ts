// Collects the texts that only the server can check (columns with `column.of`).

import { ok as assert } from 'node:assert';
import { decodeTextRows, encodeTextRow } from './encode-text.ts';
import type { ColumnSpec, ReadTable } from '../../core/declaration.ts';
import { serverReads } from '../../format/types/contract.ts';
import { typeOf } from '../../format/types/registry.ts';
import { createCompiledDecoder } from '../../format/rows/compiled-decoder.ts';
import type { Decoder } from '../../format/rows/decoder.ts';
import type { RecordBlock } from '../../format/records/record-blocks.ts';
import type { SourceFile } from '../../core/model.ts';
import { madeColumn } from '../../pipeline/check/made-column.ts';

export const isServed = (column: ColumnSpec): boolean => typeOf(column).encode === serverReads;

/** Maps each column to its texts, and each text, or null, to the indexes of its records. */
export type ServedTexts = ReadonlyMap<string, ReadonlyMap<string | null, readonly number[]>>;

export type ServedReader = (block: RecordBlock, rows?: ReadonlySet<number>) => ServedTexts;

/** Decodes the line as an extra column, because a row does not say which record it comes from. */
export const createServedReader = (table: ReadTable, file: SourceFile): ServedReader => {
  const served = table.columns.filter(isServed);
  if (served.length === 0) return () => new Map();
  const columns = [...table.columns, madeColumn('', 'bigint', { headers: [], lineage: '_line' })];
  let decode: Decoder | undefined;
  const places = [...served.map((column) => columns.indexOf(column)), columns.length - 1];
  return (block, rows) => {
    const { lines } = block.spans;
    const texts = served.map(() => new Map<string | null, number[]>());
    decode ??= createCompiledDecoder({ ...table, columns }, file, encodeTextRow);
    let record = -1;
    for (const row of decodeTextRows(decode(block).copyBytes, places, rows)) {
      record = lines.indexOf(Number(row.pop()) - block.position.line, record + 1);
      assert(record !== -1, 'a row has the line of its record');
      for (const [index, text] of row.entries()) {
        const records = texts[index]!.get(text);
        if (records === undefined) texts[index]!.set(text, [record]);
        else records.push(record);
      }
    }
    return new Map(served.map(({ name }, index) => [name, texts[index]!]));
  };
};

export type SuspectReader = (block: RecordBlock) => readonly number[];

export const createSuspectReader = (table: ReadTable, file: SourceFile): SuspectReader => {
  let decode: Decoder | undefined;
  return (block) => {
    decode ??= createCompiledDecoder({ ...table, columns: [] }, file, encodeTextRow);
    return decode(block).rejects.map(({ position }) => position.record - block.position.record);
  };
};
