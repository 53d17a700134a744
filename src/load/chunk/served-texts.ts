// What only the server can judge: the texts of columns of its own types (`column.of`), and records that go to it as they are.

import { ok as assert } from 'node:assert';
import { decodeTextRows, encodeTextRow } from './encode-text.ts';
import type { ColumnSpec, ReadTable } from '../../core/declaration/declaration.ts';
import { serverReads } from '../../format/types/contract.ts';
import { typeOf } from '../../format/types/registry.ts';
import { createCompiledDecoder } from '../../format/rows/compiled-decoder.ts';
import type { Decoder } from '../../format/rows/decoder.ts';
import type { RecordBlock } from '../../format/split/record-blocks.ts';
import type { SourceFile } from '../../core/model.ts';
import { madeColumn } from '../../pipeline/check/made-column.ts';

export const isServed = (column: ColumnSpec): boolean => typeOf(column).encode === serverReads;

/** The texts of each such column in a block, null among them, each with the records that have it, by their indexes. */
export type ServedTexts = ReadonlyMap<string, ReadonlyMap<string | null, readonly number[]>>;

/** Reads those of a block; of its nth rows alone, if these are given. */
export type ServedReader = (block: RecordBlock, rows?: ReadonlySet<number>) => ServedTexts;

/**
 * Makes the reader of such texts. It decodes the table with the line of each record added: which records are filtered or rejected
 * cannot be seen in the rows.
 */
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

/** Which records of a block the server may refuse, by their indexes. */
export type SuspectReader = (block: RecordBlock) => readonly number[];

/** Makes the reader of records whose bytes go to the server as they are, and that have another number of fields than the header. */
export const createSuspectReader = (table: ReadTable, file: SourceFile): SuspectReader => {
  let decode: Decoder | undefined;
  return (block) => {
    decode ??= createCompiledDecoder({ ...table, columns: [] }, file, encodeTextRow);
    return decode(block).rejects.map(({ position }) => position.record - block.position.record);
  };
};
