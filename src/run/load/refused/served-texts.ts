// What only the server can judge: the texts of columns of its own types (`column.of`), and which of them it refuses.

import { ok as assert } from 'node:assert';
import { decodeTextRows, encodeTextRow } from '../../../copy/encode-text.ts';
import type { Client } from '../../../db/client.ts';
import type { ColumnSpec, ReadTable } from '../../../declaration.ts';
import { serverReads } from '../../../format/column-types/contract.ts';
import { typeOf } from '../../../format/column-types/registry.ts';
import { createCompiledDecoder } from '../../../format/compiled/compiled-decoder.ts';
import type { Decoder } from '../../../format/decoder.ts';
import type { RecordBlock } from '../../../format/split/record-blocks.ts';
import type { Fault, SourceFile } from '../../../model.ts';
import { madeColumn } from '../../../pipeline/check/made-column.ts';
import { onOneLine } from '../../../wording.ts';

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

/** The type of a column of the landing; no row from a server that cannot be asked about texts: it came with PostgreSQL 16. */
const selectType = `select format_type(atttypid, atttypmod) as type from pg_attribute
  where attrelid = $1::regclass and attname = $2 and to_regprocedure('pg_input_error_info(text, text)') is not null`;

/** A value for the second parameter, as the function then looks the type up once. */
const selectRefused = `select t.text, e.sql_error_code || ' ' || e.message as reason
  from unnest($1::text[]) as t (text), pg_input_error_info(t.text, $2) as e
  where not pg_input_is_valid(t.text, $2)`;

/**
 * Asks the server which texts for the table with this quoted name it refuses, and why: passes each fault to `take` with the records that have it, in the order of the
 * columns. An error that only ends the statement is thrown, as some types do for a text that they refuse.
 */
export const askServer = async (
  client: Client,
  target: string,
  served: ServedTexts,
  take: (fault: Fault, records: readonly number[]) => void,
): Promise<void> => {
  for (const [column, texts] of served) {
    const { rows } = await client.query(selectType, [target, column]);
    if (rows.length === 0) return;
    const asked = [...texts.keys()].filter((text) => text !== null);
    const refused = await client.query(selectRefused, [asked, rows[0].type]);
    for (const { text, reason } of refused.rows)
      take({ column, code: 'server', reason: onOneLine(reason) }, texts.get(text)!);
  }
};
