// Corrections of rejected records: which a run must load, and how they replace rejects.

import { createHash } from 'node:crypto';
import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import type { RejectCode, SourceFile } from '../../core/model.ts';

/** Identifies a version of a file by a hash, because its texts are too long for an index. */
export const correctionKey = ({
  source,
  location,
  member,
  fingerprint,
}: Pick<SourceFile, 'source' | 'location' | 'member' | 'fingerprint'>): string =>
  createHash('sha256')
    .update(JSON.stringify([source, location, member, fingerprint]))
    .digest('hex');

/** SQL condition: a correction c is for some version of a file f of a run u. */
const isOfPath = `c.pipeline = u.pipeline and c.table_name = f.table_name and c.source = f.source
  and c.location = f.location and c.member is not distinct from f.member`;
const isOfFile = `${isOfPath} and c.fingerprint = f.fingerprint and c.header = f.header`;

/** SQL: joins a reject r of a file f to its run u, and to a correction c that u has not tried. */
export const correctionOfReject = `join etl.run u on u.id = r.run_id
    left join etl.correction c on ${isOfFile} and c.byte = r.byte and c.id is distinct from r.correction`;

export interface Correction {
  readonly id: number;
  readonly reject: number;
  readonly fileId: number;
  readonly byte: number;
  readonly line: number;
  readonly record: number;
  readonly fields: readonly string[];
  readonly fromFile: string;
  readonly fromLine: number;
}

/** Selects rejects of a table, each with a correction that the run has not tried. */
export const selectCorrections = (runId: number, table: string, limit: number): Query => ({
  text: `select c.id::float8 as id, r.id::float8 as reject, r.file_id::float8 as "fileId", r.byte::float8 as byte,
      r.line::float8 as line, r.record::float8 as record, c.fields, c.from_file as "fromFile", c.from_line::float8 as "fromLine"
    from etl.run u
      join etl.source_file f on f.run_id = u.id
      join etl.correction c on ${isOfFile}
      join etl.reject r on r.run_id = u.id and r.table_name = f.table_name and r.file_id = f.id and r.byte = c.byte
    where u.id = $1 and f.table_name = $2 and c.id <= u.corrections and r.correction is distinct from c.id
    order by c.id limit $3`,
  values: [runId, table, limit],
});

export interface CorrectionOutcome {
  readonly correction: Correction;
  readonly outcome: 'copied' | 'filtered' | 'rejected';
  /** Why the correction was refused; stored before the record's original faults. */
  readonly column: string | null;
  readonly code: RejectCode | null;
  readonly reason: string | null;
}

/**
 * Deletes the rejects whose corrections were loaded, adapts the chunks' counts, and adds the faults
 * of refused corrections. Called in the transaction that loads the corrections.
 */
export const exchangeRejects = (epoch: string, outcomes: readonly CorrectionOutcome[]): Query => ({
  text: `with outcome as (
      select * from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
        as o (reject, correction, outcome, column_name, code, reason)
    ),
    gone as (
      delete from etl.reject r using outcome o where r.id = o.reject and o.outcome <> 'rejected'
      returning r.file_id, r.byte, o.correction, o.outcome
    ),
    kept as (
      insert into etl.corrected (file_id, byte, correction, outcome) select file_id, byte, correction, outcome from gone
    ),
    counted as (
      update etl.chunk c
        set rejected = c.rejected - n.copied - n.filtered, copied = c.copied + n.copied, filtered = c.filtered + n.filtered
        from (
          select k.file_id, k.byte_start, count(*) filter (where g.outcome = 'copied') as copied,
            count(*) filter (where g.outcome = 'filtered') as filtered
          from gone g
            join etl.chunk k on k.file_id = g.file_id and k.epoch = $1 and g.byte >= k.byte_start and g.byte < k.byte_end
          group by k.file_id, k.byte_start
        ) n
        where c.file_id = n.file_id and c.byte_start = n.byte_start
    )
    update etl.reject r
      set correction = o.correction, column_name = o.column_name, code = o.code, reason = o.reason,
        fault_count = r.fault_count + (r.correction is null)::int,
        more_faults = case when r.correction is null
          then jsonb_build_array(jsonb_build_object('column', r.column_name, 'code', r.code, 'reason', r.reason)) || r.more_faults
          else r.more_faults end
      from outcome o where r.id = o.reject and o.outcome = 'rejected'`,
  values: [
    epoch,
    outcomes.map(({ correction }) => correction.reject),
    outcomes.map(({ correction }) => correction.id),
    outcomes.map(({ outcome }) => outcome),
    outcomes.map(({ column }) => column),
    outcomes.map(({ code }) => code),
    outcomes.map(({ reason }) => reason),
  ],
});

export const hasCorrections = async (client: Client, pipeline: string): Promise<boolean> =>
  (
    await client.query('select exists (select from etl.correction where pipeline = $1) as "isThere"', [
      pipeline,
    ])
  ).rows[0].isThere;

export const correctionsByTable = async (
  client: Client,
  runId: number,
): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await client.query(
    `select f.table_name as table, count(*)::float8 as corrections
      from etl.run u join etl.source_file f on f.run_id = u.id join etl.correction c on ${isOfFile}
      where u.id = $1 and c.id <= u.corrections group by 1`,
    [runId],
  );
  return new Map(rows.map(({ table, corrections }) => [table, corrections]));
};

/**
 * Returns files whose corrections were made for another version of the file, unless the previous
 * run already found this mismatch.
 */
export const outdatedCorrections = (
  client: Client,
  runId: number,
  limit: number,
): Promise<readonly { readonly file: string; readonly corrections: number }[]> =>
  rowsOf(client, {
    text: `select f.name as file, count(*)::float8 as corrections
        from etl.run u join etl.source_file f on f.run_id = u.id join etl.correction c on ${isOfPath}
          left join lateral (
            select id, corrections from etl.run where pipeline = u.pipeline and id < u.id order by id desc limit 1
          ) p on true
        where u.id = $1 and c.fingerprint <> f.fingerprint and (c.id > coalesce(p.corrections, 0) or exists (
          select from etl.source_file g
          where g.run_id = p.id and g.table_name = f.table_name and g.location = f.location and g.fingerprint = c.fingerprint))
        group by f.id order by f.id limit $2`,
    values: [runId, limit],
  });

export const takeCorrections = (runId: number): Query => ({
  text: 'update etl.run set corrections = (select coalesce(max(id), 0) from etl.correction) where id = $1',
  values: [runId],
});

/** Returns the tables with a loaded correction that was later replaced by another correction. */
export const recorrectedTables = async (client: Client, runId: number): Promise<ReadonlySet<string>> => {
  const { rows } = await client.query(
    `select distinct f.table_name as table from etl.source_file f join etl.corrected x on x.file_id = f.id
      where f.run_id = $1 and not exists (select from etl.correction c where c.id = x.correction)`,
    [runId],
  );
  return new Set(rows.map(({ table }) => table));
};

export interface NewCorrection extends Pick<Correction, 'fileId' | 'byte' | 'fields'> {
  readonly fileKey: string;
  readonly line: number;
}

interface KeptCorrections {
  readonly given: number;
  readonly added: number;
  /** Line of the first correction without a reject. */
  readonly unknownLine: number | null;
}

/** Stores the last correction given for each record. An unchanged correction keeps its id. */
export const keepCorrections = async (
  client: Client,
  runId: number,
  fromFile: string,
  corrections: readonly NewCorrection[],
): Promise<KeptCorrections> => {
  const text = `with given as (
      select distinct on ("fileId", byte) *
      from jsonb_to_recordset($3::jsonb) as g ("fileId" bigint, "fileKey" text, byte bigint, line bigint, fields text[])
      order by "fileId", byte, line desc
    ),
    known as (
      select g.*, u.pipeline, f.table_name, f.source, f.location, f.member, f.fingerprint, f.header
      from given g join etl.source_file f on f.id = g."fileId" join etl.run u on u.id = f.run_id and u.id = $1
      where exists (
          select from etl.reject r
          where r.run_id = u.id and r.table_name = f.table_name and r.file_id = f.id and r.byte = g.byte
        )
        or exists (select from etl.corrected x where x.file_id = f.id and x.byte = g.byte)
    ),
    kept as (
      insert into etl.correction as c (pipeline, table_name, source, location, member, fingerprint, file_key, byte, header, fields,
          from_file, from_line)
        select pipeline, table_name, source, location, member, fingerprint, "fileKey", byte, header, fields, $2, line from known
        order by line
      on conflict (pipeline, table_name, file_key, byte) do update
        set id = default, header = excluded.header, fields = excluded.fields, from_file = excluded.from_file,
          from_line = excluded.from_line, made_at = clock_timestamp()
        where (c.header, c.fields) is distinct from (excluded.header, excluded.fields)
      returning 1
    )
    select (select count(*)::float8 from given) as given, (select count(*)::float8 from kept) as added,
      (
        select min(line)::float8 from given g
        where not exists (select from known k where k."fileId" = g."fileId" and k.byte = g.byte)
      ) as "unknownLine"`;
  const [kept] = await rowsOf<KeptCorrections>(client, {
    text,
    values: [runId, fromFile, JSON.stringify(corrections)],
  });
  return kept!;
};

/** `loadedLine`, `loadedBy`: line and run of the first correction that is loaded. */
interface WithdrawnCorrections {
  readonly withdrawn: number;
  readonly loadedLine: number | null;
  readonly loadedBy: number | null;
}

/**
 * Deletes these corrections, or none if one is already loaded: by a published run, or by the
 * newest run while it may continue.
 */
export const withdrawCorrections = async (
  client: Client,
  runId: number,
  records: readonly Pick<NewCorrection, 'fileKey' | 'byte' | 'fileId' | 'line'>[],
): Promise<WithdrawnCorrections> => {
  const text = `with given as (
      select * from jsonb_to_recordset($2::jsonb) as g ("fileId" bigint, "fileKey" text, byte bigint, line bigint)
    ),
    kept as (
      select g.line, c.*
      from given g join etl.source_file f on f.id = g."fileId" join etl.run u on u.id = f.run_id and u.id = $1
        join etl.correction c
          on c.pipeline = u.pipeline and c.table_name = f.table_name and c.file_key = g."fileKey" and c.byte = g.byte
    ),
    used as (
      select * from etl.run u where pipeline = (select pipeline from etl.run where id = $1) and (
        exists (select from etl.published_file p where p.pipeline = u.pipeline and p.run_id = u.id)
        or id = (select max(id) from etl.run where pipeline = u.pipeline) and state <> 'cancelled')
    ),
    loaded as (
      select c.line, u.id as run from kept c cross join used u join etl.source_file f on f.run_id = u.id and ${isOfPath}
        and c.fingerprint = f.fingerprint join etl.corrected x on x.file_id = f.id and x.byte = c.byte
    ),
    gone as (
      delete from etl.correction c using kept k where c.id = k.id and not exists (select from loaded) returning 1
    )
    select (select count(*)::float8 from gone) as withdrawn, l.line::float8 as "loadedLine", l.run::float8 as "loadedBy"
      from (select) as one left join (select * from loaded order by line, run limit 1) l on true`;
  const values = [runId, JSON.stringify(records)];
  const [withdrawn] = await rowsOf<WithdrawnCorrections>(client, { text, values });
  return withdrawn!;
};
