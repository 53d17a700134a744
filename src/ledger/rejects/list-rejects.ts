// Lists the rejects of a run, page by page.

import { correctionOfReject } from './corrections.ts';
import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import type { Fault, RunState } from '../../core/model.ts';
import { findSummary, hasHistory } from '../history/history.ts';
import { noPipeline, refuseUnknown, selectPipelineNames } from '../history/names.ts';

/** Rejects of a page: at most 8 MiB of raw text. */
const pageRejects = 1_000;

export interface RejectedRun {
  readonly runId: number;
  readonly pipeline: string;
  readonly state: RunState;
  readonly startedAt: Date;
  readonly total: number;
  readonly corrected: number;
}

/** A reject with its first fault, the number of its faults, and further stored faults (`more`). */
export interface RejectRow extends Fault {
  readonly id: number;
  readonly run: number;
  readonly table: string;
  readonly file: string;
  readonly line: number;
  readonly lastLine: number;
  readonly byte: number;
  readonly record: number;
  readonly faults: number;
  readonly more: readonly Fault[];
  readonly raw: string;
  readonly isCorrected: boolean;
}

/** `runId` undefined: the newest run with rejects. */
export interface RejectChoice {
  readonly runId: number | undefined;
  readonly pipeline: string | null;
  readonly table: string | null;
}

export const selectNewestRejected = ({ pipeline, table }: Omit<RejectChoice, 'runId'>): Query => ({
  text: `select r.id::float8 as id from etl.run r
    where ($1::text is null or r.pipeline = $1)
      and exists (select from etl.reject j where j.run_id = r.id and ($2::text is null or j.table_name = $2))
    order by r.finished_at desc nulls first, r.id desc limit 1`,
  values: [pipeline, table],
});

const selectTableNames = (runId: number | undefined): Query => ({
  text: `select table_name as name from etl.source_file where $1::bigint is null or run_id = $1
    union
    select table_name from etl.published_table where $1::bigint is null or run_id = $1
    order by 1`,
  values: [runId ?? null],
});

const countRejects = (runId: number, table: string | null): Query => ({
  text: `select count(*)::float8 as total, count(c.id)::float8 as corrected
    from etl.reject r join etl.source_file f on f.id = r.file_id ${correctionOfReject}
    where r.run_id = $1 and ($2::text is null or r.table_name = $2)`,
  values: [runId, table],
});

export interface RejectsWanted {
  readonly table: string | null;
  readonly file?: string | undefined;
}

const selectFiles = (runId: number, { table, file }: RejectsWanted): Query => ({
  text: `select f.id, f.table_name as table from etl.source_file f
    where f.run_id = $1 and ($2::text is null or f.table_name = $2) and ($3::text is null or f.name = $3)
      and exists (select from etl.reject r where r.run_id = $1 and r.table_name = f.table_name and r.file_id = f.id)
    order by f.table_name, f.ordinal`,
  values: [runId, table, file],
});

/** SQL: columns of a RejectRow from etl.reject r, etl.source_file f, and `correctionOfReject`. */
export const rejectColumns = `
  r.id::float8 as id, r.run_id::float8 as run, r.table_name as table, f.name as file, r.line::float8 as line,
  coalesce(r.last_line, r.line)::float8 as "lastLine",
  r.byte::float8 as byte, r.record::float8 as record, r.column_name as column, r.code, r.reason,
  r.fault_count as faults, r.more_faults as more, r.raw, c.id is not null as "isCorrected"`;

const selectPage = (
  runId: number,
  file: { readonly id: string; readonly table: string },
  after: readonly [number, number],
  limit: number,
): Query => ({
  text: `select ${rejectColumns}
    from etl.reject r
    join etl.source_file f on f.id = r.file_id ${correctionOfReject}
    where r.run_id = $1 and r.table_name = $2 and r.file_id = $3 and (r.byte, r.id) > ($4::bigint, $5::bigint)
    order by r.byte, r.id
    limit $6`,
  values: [runId, file.table, file.id, ...after, limit],
});

/** Finds the chosen run; undefined if no run has rejects. Errors: ETL_RUN_UNKNOWN, ETL_USAGE. */
export const rejectedRun = async (client: Client, choice: RejectChoice): Promise<RejectedRun | undefined> => {
  const { runId, pipeline, table } = choice;
  if (runId !== undefined) await findSummary(client, runId);
  else if (!(await hasHistory(client))) return undefined;
  await refuseUnknown(client, pipeline, selectPipelineNames, noPipeline);
  const noTable = runId === undefined ? 'no run has a table' : `run ${runId} has no table`;
  await refuseUnknown(client, table, selectTableNames(runId), noTable);
  const id = runId ?? (await rowsOf<{ id: number | null }>(client, selectNewestRejected(choice)))[0]?.id;
  if (id == null) return undefined;
  const run = await findSummary(client, id);
  const [count] = await rowsOf<{ total: number; corrected: number }>(client, countRejects(id, table));
  return {
    runId: id,
    pipeline: run.pipeline,
    state: run.state,
    startedAt: run.startedAt,
    ...count!,
  };
};

export async function* rejectPages(
  client: Client,
  runId: number,
  wanted: RejectsWanted,
  limit = Infinity,
): AsyncGenerator<readonly RejectRow[], void> {
  let left = limit;
  for (const file of await rowsOf<{ id: string; table: string }>(client, selectFiles(runId, wanted))) {
    let after: readonly [number, number] = [-1, 0];
    while (left > 0) {
      const size = Math.min(pageRejects, left);
      const page = await rowsOf<RejectRow>(client, selectPage(runId, file, after, size));
      if (page.length > 0) yield page;
      left -= page.length;
      if (page.length < size) break;
      const { byte, id } = page.at(-1)!;
      after = [byte, id];
    }
  }
}
