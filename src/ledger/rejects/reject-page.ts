// Reads a run's rejects page by page, in index order, filtered by table and kind of fault.

import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { isOfTable } from './store.ts';
import { correctionOfReject } from './corrections.ts';
import { hasHistory } from '../history/history.ts';
import { rejectColumns, selectNewestRejected } from './list-rejects.ts';
import { formatOf, type RejectInFile } from './reject-records.ts';

export interface RejectPlace {
  readonly table: string;
  readonly fileId: number;
  readonly byte: number;
  readonly id: number;
}

export interface PlacedReject extends RejectInFile {
  readonly fileId: number;
}

interface RejectsOfPage {
  readonly table: string | null;
  readonly code: string | null;
  readonly column: string | null;
  readonly after: RejectPlace | undefined;
  readonly limit: number;
}

/**
 * Rejects that one query searches for a kind of fault. An index on kinds would slow down every
 * load.
 */
const searchedMax = 20_000;

const inOrder = `
      from etl.reject r
      where r.run_id = $1 and ${isOfTable('r.table_name', '$2')}
        and (r.table_name, r.file_id, r.byte, r.id) > ($3::text, $4::bigint, $5::bigint, $6::bigint)
      order by r.table_name, r.file_id, r.byte, r.id`;

const placeValues = (runId: number, { table, after }: RejectsOfPage): unknown[] => [
  runId,
  table,
  after?.table ?? '',
  after?.fileId ?? 0,
  after?.byte ?? 0,
  after?.id ?? 0,
];

const selectAfter = (runId: number, wanted: RejectsOfPage): Query => ({
  text: `select ${rejectColumns}, r.file_id::float8 as "fileId", f.header,
      ${formatOf('f')} as format
    from (select * ${inOrder} limit ${searchedMax}) r
    join etl.source_file f on f.id = r.file_id ${correctionOfReject}
    where ($7::text is null or r.code = $7) and ($8::text is null or r.column_name = $8)
    order by r.table_name, r.file_id, r.byte, r.id
    limit $9`,
  values: [...placeValues(runId, wanted), wanted.code, wanted.column, wanted.limit],
});

const selectLast = (runId: number, wanted: RejectsOfPage): Query => ({
  text: `select r.table_name as table, r.file_id::float8 as "fileId", r.byte::float8 as byte, r.id::float8 as id ${inOrder}
      offset ${searchedMax - 1} limit 1`,
  values: placeValues(runId, wanted),
});

interface RejectsFound {
  readonly rejects: readonly PlacedReject[];
  readonly next: RejectPlace | undefined;
}

/** Returns the next rejects: possibly fewer than `limit`, although more follow. */
export const rejectsAfter = async (
  client: Client,
  runId: number,
  wanted: RejectsOfPage,
): Promise<RejectsFound> => {
  const { limit } = wanted;
  const found = await rowsOf<PlacedReject>(client, selectAfter(runId, { ...wanted, limit: limit + 1 }));
  const rejects = found.slice(0, limit);
  if (found.length > limit) return { rejects, next: rejects.at(-1) };
  const [next] = await rowsOf<RejectPlace>(client, selectLast(runId, wanted));
  return { rejects, next };
};

export const newestRejectedRun = async (
  client: Client,
  pipeline: string | null,
): Promise<number | undefined> => {
  if (!(await hasHistory(client))) return undefined;
  const query = selectNewestRejected({ pipeline, table: null });
  return (await rowsOf<{ id: number }>(client, query))[0]?.id;
};
