// Keeps rejects in etl.reject, in the transaction of their chunk, and judges them against a table's limit.

import type { RejectLimit } from '../declaration.ts';
import { runQuery, type Client } from '../db/client.ts';
import { storable, type Query } from '../db/sql.ts';
import { EtlError } from '../errors.ts';
import { rejectsCollectedMax, rejectsPerInsertMax, rejectsShown } from '../limits.ts';
import type { Counts, Reject } from '../model.ts';

/** Where rejects come from. */
export interface RejectSource {
  readonly runId: number;
  readonly table: string;
  readonly fileId: number;
}

const insertRejects = ({ runId, table, fileId }: RejectSource, rejects: readonly Reject[]): Query => ({
  text: `insert into etl.reject (run_id, table_name, file_id, byte, line, record, column_name, code, reason, raw)
    select $1, $2, $3, r.* from unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[],
      $10::text[]) as r`,
  values: [
    runId,
    table,
    fileId,
    rejects.map(({ position }) => position.byte),
    rejects.map(({ position }) => position.line),
    rejects.map(({ position }) => position.record),
    rejects.map(({ column }) => column),
    rejects.map(({ code }) => code),
    rejects.map(({ reason }) => storable(reason)),
    rejects.map(({ raw }) => raw),
  ],
});

/** Keeps the rejects of a chunk, in its transaction. */
export const keepRejects = async (
  client: Client,
  source: RejectSource,
  rejects: readonly Reject[],
): Promise<void> => {
  for (let from = 0; from < rejects.length; from += rejectsPerInsertMax)
    await runQuery(client, insertRejects(source, rejects.slice(from, from + rejectsPerInsertMax)));
};

/** The first rejects of a table, as lines for an error message. */
export const selectFirstRejects = (runId: number, table: string): Query => ({
  text: `select f.name || ':' || r.line || coalesce(' ' || r.column_name, '') || ': ' || r.reason as line
    from etl.reject r join etl.source_file f on f.id = r.file_id
    where r.run_id = $1 and r.table_name = $2
    order by f.ordinal, r.byte
    limit $3`,
  values: [runId, table, rejectsShown],
});

/** True when so many rejects of so many records are more than the table allows. */
export const isOverLimit = (limit: RejectLimit, rejected: number, records: number): boolean =>
  limit.kind === 'count' ? rejected > limit.records : rejected * 100 > limit.percent * records;

/**
 * Rejects of a table with which it is over its limit for sure, and enough of them are kept to show what is wrong. Infinity for
 * a share: the records that follow may all be good.
 */
export const rejectsKeptMax = (limit: RejectLimit): number =>
  limit.kind === 'count' ? Math.max(rejectsCollectedMax, limit.records + 1) : Infinity;

/** Throws ETL_REJECT_LIMIT when a table has so many rejects that the rest of its files need not be read. */
export const stopIfHopeless = (
  run: number,
  { name, rejectLimit }: { readonly name: string; readonly rejectLimit: RejectLimit },
  { rejected, records }: Counts,
): void => {
  if (rejected < rejectsKeptMax(rejectLimit)) return;
  const details = { table: name, rejected, records, limit: limitText(rejectLimit), run };
  throw new EtlError('ETL_REJECT_LIMIT', { ...details, extent: ' read so far', examples: '' });
};

export const limitText = (limit: RejectLimit): string =>
  limit.kind === 'count' ? String(limit.records) : `${limit.percent}%`;
