// Stores rejects in their chunk's transaction, and checks reject limits.

import type { RejectLimit } from '../../core/declaration.ts';
import { runQuery, type Client } from '../../db/client.ts';
import { storable, storableJson, type Query } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { rejectsCollectedMax, rejectsPerInsertMax } from '../../core/limits.ts';
import type { Counts, Reject } from '../../core/model.ts';
import { linesOf, plural, asList } from '../../core/wording.ts';

interface RejectSource {
  readonly runId: number;
  readonly table: string;
  readonly fileId: number;
}

const insertRejects = ({ runId, table, fileId }: RejectSource, rejects: readonly Reject[]): Query => ({
  text: `insert into etl.reject (run_id, table_name, file_id, byte, line, record, column_name, code, reason, raw,
      last_line, fault_count, more_faults)
    select $1, $2, $3, r.* from unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::bigint[], $12::integer[], $13::jsonb[]) as r`,
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
    rejects.map(({ lastLine }) => lastLine),
    rejects.map(({ others }) => 1 + (others?.count ?? 0)),
    rejects.map(({ others }) => storableJson(others?.kept ?? [])),
  ],
});

export const keepRejects = async (
  client: Client,
  source: RejectSource,
  rejects: readonly Reject[],
): Promise<void> => {
  for (let from = 0; from < rejects.length; from += rejectsPerInsertMax)
    await runQuery(client, insertRejects(source, rejects.slice(from, from + rejectsPerInsertMax)));
};

/** Faults that differ only in the values that their reasons mention. */
export interface FaultKind {
  readonly table: string;
  readonly column: string | null;
  readonly code: string;
  readonly count: number;
  readonly file: string;
  readonly line: number;
  readonly lastLine: number;
  readonly reason: string;
  readonly raw: string;
}

export interface FaultKinds {
  readonly kinds: readonly FaultKind[];
  readonly total: number;
}

const valuesInReasons = String.raw`"(\\.|[^"\\])*"|[0-9]+`;

/** SQL: every fault of a reject r, as (column_name, code, reason). */
const faultsOfRejects = `(
    select r.column_name, r.code, r.reason
    union all
    select m ->> 'column', m ->> 'code', m ->> 'reason' from jsonb_array_elements(r.more_faults) as m
  )`;

/**
 * SQL condition: the column equals the table. Written with `between`, because for `=` the planner
 * may prefer another index to reject_run, and read the rejects of all runs.
 */
export const isOfTable = (column: string, table: string): string =>
  `(${table}::text is null or ${column} between ${table} and ${table})`;

const selectFaultKinds = (runId: number, table: string | null, limit: number, within?: number): Query => ({
  text: `with kind as (
      select r.table_name, f.column_name, f.code, regexp_replace(f.reason, $4, '…', 'g') as words, count(*) as faults,
        min(array[s.ordinal, r.byte, r.id]) as first, count(*) over () as kinds
      from (
        select * from etl.reject where run_id = $1 and ${isOfTable('table_name', '$2')}
        ${within === undefined ? '' : `order by table_name, file_id, byte limit ${Math.floor(within)}`}
      ) r
      join etl.source_file s on s.id = r.file_id
      cross join lateral ${faultsOfRejects} as f
      group by r.table_name, f.column_name, f.code, words
      order by count(*) desc, r.table_name, min(array[s.ordinal, r.byte, r.id]), f.column_name
      limit $3
    )
    select k.kinds::float8 as kinds, json_build_object('table', k.table_name, 'column', k.column_name, 'code', k.code,
      'count', k.faults, 'file', s.name, 'line', r.line,
      'lastLine', coalesce(r.last_line, r.line), 'reason', f.reason, 'raw', r.raw) as kind
    from kind k
    join etl.reject r on r.id = k.first[3]
    join etl.source_file s on s.id = r.file_id
    cross join lateral (
      select f.reason from ${faultsOfRejects} as f
      where f.column_name is not distinct from k.column_name and f.code = k.code
        and regexp_replace(f.reason, $4, '…', 'g') = k.words
      limit 1
    ) as f
    order by k.faults desc, k.table_name, k.first, k.column_name`,
  values: [runId, table, limit, valuesInReasons],
});

/** Counts a run's faults by kind; with `within`, only in its first rejects. */
export const faultKinds = async (
  client: Client,
  runId: number,
  table: string | null,
  limit: number,
  within?: number,
): Promise<FaultKinds> => {
  const { rows } = await runQuery(client, selectFaultKinds(runId, table, limit, within));
  return { kinds: rows.map(({ kind }) => kind), total: rows[0]?.kinds ?? 0 };
};

export const kindLines = ({ kinds, total }: FaultKinds): string => {
  const lines = kinds.map(({ file, line, lastLine, column, reason, code, count }) => {
    const where = `${linesOf(file, line, lastLine)}${column === null ? '' : ` ${column}`}`;
    return `${where}: ${reason} (${code}, ${plural(count, 'record')})`;
  });
  if (total > kinds.length) lines.push(`and ${total - kinds.length} more kinds of faults`);
  return asList(lines);
};

export const isOverLimit = (limit: RejectLimit, rejected: number, records: number): boolean =>
  limit.kind === 'count' ? rejected > limit.records : rejected * 100 > limit.percent * records;

/**
 * Number of rejects that stops a load. A percentage never stops a load, because all further records
 * may be good.
 */
export const rejectsKeptMax = (limit: RejectLimit): number =>
  limit.kind === 'count' ? Math.max(rejectsCollectedMax, limit.records + 1) : Infinity;

/** A table with its reject limit. Without a name, it is the limit for all tables together. */
export interface Limited {
  readonly name?: string;
  readonly rejectLimit: RejectLimit;
}

interface Excess extends Pick<Counts, 'rejected' | 'records'> {
  readonly extent: string;
  readonly examples: string;
}

export const limitExceeded = (run: number, { name, rejectLimit: limit }: Limited, excess: Excess): EtlError =>
  new EtlError('ETL_REJECT_LIMIT', {
    ...excess,
    ...(name !== undefined && { table: name }),
    subject: name === undefined ? 'all tables together' : `table ${name}`,
    limit: limit.kind === 'count' ? String(limit.records) : `${limit.percent}%`,
    run,
  });

/** Throws ETL_REJECT_LIMIT if the limit is exceeded, whatever the remaining records are. */
export const stopIfHopeless = (run: number, limited: Limited, { rejected, records }: Counts): void => {
  if (rejected >= rejectsKeptMax(limited.rejectLimit))
    throw limitExceeded(run, limited, { rejected, records, extent: ' read so far', examples: '' });
};
