// Names the records of rows that a key has refused, by file and line.

import { runFiles } from '../../checkpoint/ledger.ts';
import { runQuery } from '../../db/client.ts';
import { EtlError } from '../../errors.ts';
import type { DuplicateRow, DuplicateRows } from '../../publish/duplicates.ts';
import { stopSignal, type RunContext } from '../context.ts';
import { lineOfRow } from './line-of-row.ts';

/**
 * File and line of a row in staging. A chunk's row in the ledger is written in the transaction that copies its rows, and these lie in
 * staging in their order. Undefined for a row of another transaction: one that SQL has made, that of a correction, or of a record
 * that the server had to be asked for one by one.
 */
const placeOf = async (
  context: RunContext,
  runId: number,
  { plan }: DuplicateRows,
  { ctid, xmin }: DuplicateRow,
): Promise<string | undefined> => {
  const { client, spec } = context;
  const { table, rowsFrom } = plan.table;
  const declared = spec.tables.find(({ name }) => name === table)!;
  if (declared.kind !== 'source' || declared.staging === 'text') return undefined;
  const { rows } = await runQuery(client, {
    text: `select c.file_id::float8 as "fileId", c.byte_start::float8 as byte, c.byte_end::float8 as "byteEnd",
        c.first_line::float8 as line, c.first_record::float8 as record,
        (select count(*)::float8 from ${rowsFrom} n where n.xmin = $3::xid and n.ctid <= $4::tid) as ordinal
      from etl.source_file f join etl.chunk c on c.file_id = f.id
      where f.run_id = $1 and f.table_name = $2 and c.xmin = $3::xid
        and not exists (select from etl.corrected x where x.file_id = f.id)`,
    values: [runId, table, xmin, ctid],
  });
  if (rows.length !== 1) return undefined;
  const { fileId, byteEnd, ordinal, ...start } = rows[0];
  const file = (await runFiles(client, runId)).find(({ id }) => id === fileId)!;
  const line = await lineOfRow(declared, { file, start, byteEnd, ordinal }, stopSignal(context));
  return line === undefined ? undefined : `${file.name}:${line}`;
};

/** The error of rows that have the key of others. Errors: those of their files' sources. */
export const nameRecords = async (
  context: RunContext,
  runId: number,
  duplicates: DuplicateRows,
): Promise<EtlError> => {
  const { plan, what, rows } = duplicates;
  const records: string[] = [];
  for (const row of rows) {
    const place = await placeOf(context, runId, duplicates, row);
    const other = row.isInProduction ? 'is in production already' : 'is in these files twice';
    records.push(`${place === undefined ? '' : `${place} `}(${row.key}) ${other}`);
  }
  const details = { table: plan.table.table, key: what, records: records.join('; ') };
  return new EtlError('ETL_DUPLICATE_ROWS', details, { cause: duplicates.cause });
};
