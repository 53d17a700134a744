// Names the records of rows that a key has refused: their files, and their lines as exactly as the ledger knows them.

import { runQuery, type Client } from '../../db/client.ts';
import { EtlError } from '../../errors.ts';
import type { DuplicateRow, DuplicateRows } from '../../publish/duplicates.ts';

/** The chunk whose transaction loaded a row, and the place of the row in it. */
interface RowOfChunk {
  readonly file: string;
  readonly firstLine: number;
  readonly lines: number;
  readonly ordinal: number;
  /** Each of its lines is a row. */
  readonly isPlain: boolean;
}

/**
 * A chunk's row in the ledger is written in the transaction that copies its rows, and these lie in staging in their order. Undefined
 * for a row of another transaction: that of a correction, or of a record that the server had to be asked for one by one.
 */
const chunkOf = async (
  client: Client,
  runId: number,
  { plan }: DuplicateRows,
  { ctid, xmin }: DuplicateRow,
): Promise<RowOfChunk | undefined> => {
  const { table, rowsFrom } = plan.table;
  const { rows } = await runQuery(client, {
    text: `select f.name as file, c.first_line::float8 as "firstLine", c.lines::float8 as lines,
        c.lines = c.copied and c.records = c.copied as "isPlain",
        (select count(*)::float8 from ${rowsFrom} n where n.xmin = $3::xid and n.ctid <= $4::tid) as ordinal
      from etl.source_file f join etl.chunk c on c.file_id = f.id
      where f.run_id = $1 and f.table_name = $2 and c.xmin = $3::xid
        and not exists (select from etl.corrected x where x.file_id = f.id)`,
    values: [runId, table, xmin, ctid],
  });
  return rows.length === 1 ? rows[0] : undefined;
};

const placeOf = (chunk: RowOfChunk | undefined): string => {
  if (chunk === undefined) return '';
  const { file, firstLine, lines, ordinal, isPlain } = chunk;
  return isPlain ? `${file}:${firstLine + ordinal - 1} ` : `${file}:${firstLine}-${firstLine + lines - 1} `;
};

/** The error of rows that have the key of others. */
export const nameRecords = async (
  client: Client,
  runId: number,
  duplicates: DuplicateRows,
): Promise<EtlError> => {
  const { plan, what, rows } = duplicates;
  const records: string[] = [];
  for (const row of rows) {
    const other = row.isInProduction ? 'is in production already' : 'is in these files twice';
    records.push(`${placeOf(await chunkOf(client, runId, duplicates, row))}(${row.key}) ${other}`);
  }
  const details = { table: plan.table.table, key: what, records: records.join('; ') };
  return new EtlError('ETL_DUPLICATE_ROWS', details, { cause: duplicates.cause });
};
