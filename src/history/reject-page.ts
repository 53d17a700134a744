// Rejects of a run as a page shows them: some at a time, in the order of the index on them, narrowed down by table and kind of fault.

import type { Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import { hasHistory, rowsOf } from './history.ts';
import { rejectColumns, selectNewestRejected } from './list-rejects.ts';
import type { RejectInFile } from './reject-records.ts';

/** Where a page of rejects goes on: after this one. */
export interface RejectPlace {
  readonly table: string;
  readonly fileId: number;
  readonly byte: number;
  readonly id: number;
}

/** A reject with its place in the order. */
export interface PlacedReject extends RejectInFile {
  readonly fileId: number;
}

/** Which rejects of a run: all that are described, from a place on. */
export interface RejectsOfPage {
  readonly table: string | null;
  readonly code: string | null;
  readonly column: string | null;
  readonly after: RejectPlace | undefined;
  readonly limit: number;
}

const selectAfter = (runId: number, { table, code, column, after, limit }: RejectsOfPage): Query => ({
  text: `select ${rejectColumns}, r.file_id::float8 as "fileId", f.header,
      (select to_jsonb(u) -> 'formats' from etl.run u where u.id = $1) -> f.table_name as format
    from etl.reject r
    join etl.source_file f on f.id = r.file_id
    where r.run_id = $1 and ($2::text is null or r.table_name = $2) and ($3::text is null or r.code = $3)
      and ($4::text is null or r.column_name = $4)
      and (r.table_name, r.file_id, r.byte, r.id) > ($5::text, $6::bigint, $7::bigint, $8::bigint)
    order by r.table_name, r.file_id, r.byte, r.id
    limit $9`,
  values: [
    runId,
    table,
    code,
    column,
    after?.table ?? '',
    after?.fileId ?? 0,
    after?.byte ?? 0,
    after?.id ?? 0,
    limit,
  ],
});

/** Rejects of a run, the first or those after a place. */
export const rejectsAfter = (
  client: Client,
  runId: number,
  wanted: RejectsOfPage,
): Promise<readonly PlacedReject[]> => rowsOf<PlacedReject>(client, selectAfter(runId, wanted));

/** The newest run that rejected anything; undefined: none. */
export const newestRejectedRun = async (
  client: Client,
  pipeline: string | null,
): Promise<number | undefined> => {
  if (!(await hasHistory(client))) return undefined;
  const query = selectNewestRejected({ pipeline, table: null });
  return (await rowsOf<{ id: number }>(client, query))[0]?.id;
};
