// Files in production as their runs recorded them: counts, rejects and corrections.

import { rowsOf, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { ownFilesOf, type FilesOf } from './published-files.ts';
import { publicationsOf } from './published-tables.ts';

export interface LoadedFile {
  readonly id: number;
  readonly name: string;
  readonly runId: number;
  readonly records: number;
  /** Copied rows, without rows of replaced partitions. */
  readonly rows: number;
  /** null: the run was deleted. */
  readonly rejected: number | null;
  readonly filtered: number | null;
  /** Hash of what determines the table's staged rows; null: the run was deleted. */
  readonly staged: string | null;
  /** Index of the file's dialect among its table's dialects; null: the run was deleted. */
  readonly reading: number | null;
  /** True if one of its records replaced a row, or was replaced itself; false if unknown. */
  readonly isMerged: boolean;
  /** Set if a rollback (`by`) restored this version; `run` is the run that was undone. */
  readonly rolledBack: { readonly run: number; readonly by: number } | null;
}

export const loadedFiles = (
  client: Client,
  { pipeline, schema, table }: FilesOf,
): Promise<readonly LoadedFile[]> =>
  rowsOf(client, {
    text: `with newest as (
        select run_id as by, version, lag(coalesce(version, run_id)) over (order by published_at, run_id) as run
          from etl.published_table where schema_name = $2 and table_name = $3 order by published_at desc, run_id desc limit 1
      )
      select p.file_id::float8 as id, p.name, p.run_id::float8 as "runId", p.records::float8 as records, p.rows::float8 as rows,
        c.rejected, c.filtered, r.staged_hashes ->> p.table_name as staged, f.reading,
        coalesce((t.changes ->> 'inserted')::float8 <> (
          select sum(value::float8) from jsonb_each_text(t.changes)
        ), false) as "isMerged",
        case when n.version = p.run_id then json_build_object('run', n.run, 'by', n.by) end as "rolledBack"
      from etl.published_file p
        left join newest n on true
        left join etl.run r on r.id = p.run_id
        left join etl.source_file f on f.id = p.file_id
        left join etl.published_table t on t.run_id = p.run_id and t.schema_name = p.schema_name and t.table_name = p.table_name
        left join lateral (
          select coalesce(sum(rejected), 0)::float8 as rejected, coalesce(sum(filtered), 0)::float8 as filtered
            from etl.chunk where file_id = p.file_id and epoch = r.epoch
        ) c on r.id is not null
      where p.pipeline = $1 and p.schema_name = $2 and p.table_name = $3 and not p.unloaded
      order by p.file_id`,
    values: [pipeline, schema, table],
  });

export interface FilesOfOthers {
  readonly pipelines: readonly string[];
  readonly files: ReadonlySet<string>;
}

export const filesOfOthers = async (
  client: Client,
  { pipeline, schema, table }: FilesOf,
): Promise<FilesOfOthers> => {
  const { rows } = await client.query<{ pipeline: string; id: string }>(
    `select pipeline, file_id::text as id from etl.published_file
      where pipeline <> $1 and schema_name = $2 and table_name = $3 and rows > 0 order by pipeline`,
    [pipeline, schema, table],
  );
  return {
    pipelines: [...new Set(rows.map((row) => row.pipeline))],
    files: new Set(rows.map(({ id }) => id)),
  };
};

/** Returns a text that changes if the table is replaced or published to. */
export const standOf = async (client: Client, of: FilesOf): Promise<string> => {
  const { schema, table } = of;
  const { rows } = await client.query<{ oid: string | null }>('select to_regclass($1)::oid::text as oid', [
    quoteName(schema, table),
  ]);
  const publications = await publicationsOf(client, schema, [table]);
  return [rows[0]!.oid, publications.get(table), await ownFilesOf(client, of)].join(' ');
};

const rejectsAtOnce = 10_000;

export async function* rejectsOfFile(
  client: Client,
  { id, runId }: Pick<LoadedFile, 'id' | 'runId'>,
  codes: readonly string[],
): AsyncGenerator<{ readonly byte: number; readonly lines: number }, void> {
  let after = -1;
  for (;;) {
    const { rows } = await client.query(
      `select byte::float8 as byte, (coalesce(last_line, line) - line + 1)::float8 as lines from etl.reject
        where run_id = $1 and file_id = $2 and code = any ($3) and byte > $4 order by byte limit ${rejectsAtOnce}`,
      [runId, id, codes, after],
    );
    yield* rows;
    if (rows.length < rejectsAtOnce) return;
    after = rows.at(-1).byte;
  }
}

export const correctionsOfFile = (
  client: Client,
  fileId: number,
): Promise<readonly { readonly fields: readonly string[] | null }[]> =>
  rowsOf(client, {
    text: `select c.fields from etl.corrected x left join etl.correction c on c.id = x.correction where x.file_id = $1 order by x.byte`,
    values: [fileId],
  });
