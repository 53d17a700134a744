// Files in production: counts for each table, and a table's files, page by page.

import { isThere, rowsOf, type Client } from '../../db/client.ts';
import { shownStates } from './history.ts';
import { totalsOfFile } from './totals.ts';

export interface LoadedTable {
  readonly pipeline: string;
  readonly schema: string;
  readonly table: string;
  readonly files: number;
  readonly bytes: number;
  readonly rows: number;
  readonly newest: Date;
}

export interface LoadedFile {
  readonly id: number;
  readonly file: string;
  readonly run: number;
  /** False if the file's run was pruned. */
  readonly isRunKept: boolean;
  readonly bytes: number;
  readonly records: number;
  readonly rows: number;
  /** null: its run was pruned. */
  readonly rejected: number | null;
  readonly publishedAt: Date;
  readonly unloaded: boolean;
  /** Rows that were deleted with replaced partitions. */
  readonly replaced: number;
}

const hasFiles = (client: Client): Promise<boolean> => isThere(client, 'etl.published_file');

export const listLoadedTables = async (client: Client): Promise<readonly LoadedTable[]> => {
  if (!(await hasFiles(client))) return [];
  return rowsOf<LoadedTable>(client, {
    text: `select pipeline, schema_name as schema, table_name as table, count(*)::float8 as files,
        sum(bytes)::float8 as bytes, sum(rows)::float8 as rows, max(published_at) as newest
      from etl.published_file group by 1, 2, 3 order by 1, 2, 3`,
  });
};

export interface FilesWanted extends Pick<LoadedTable, 'pipeline' | 'schema' | 'table'> {
  readonly containing: string;
  /** Name and id of the last file on the previous page. */
  readonly after: readonly [string, number];
  readonly limit: number;
}

export const loadedFilesAfter = (client: Client, wanted: FilesWanted): Promise<readonly LoadedFile[]> =>
  rowsOf<LoadedFile>(client, {
    text: `select f.file_id::float8 as id, f.name as file, f.run_id::float8 as run, f.bytes::float8 as bytes,
        f.records::float8 as records, f.rows::float8 as rows, f.published_at as "publishedAt", f.unloaded,
        f.replaced::float8 as replaced, r.id is not null as "isRunKept", case when r.id is not null then c.rejected end as rejected
      from (
        select *, file_id as id from etl.published_file
        where pipeline = $1 and schema_name = $2 and table_name = $3 and ($4 = '' or strpos(name, $4) > 0)
          and (name, file_id) > ($5, $6)
        order by name, file_id limit $7
      ) f
      left join etl.run r on r.id = f.run_id
      cross join lateral ${totalsOfFile} c
      order by f.name, f.file_id`,
    values: [wanted.pipeline, wanted.schema, wanted.table, wanted.containing, ...wanted.after, wanted.limit],
  });

export type LoadingFile = Pick<LoadedFile, 'file' | 'run' | 'bytes' | 'records' | 'rejected'>;

/** Lists files of runs under way. */
export const loadingFiles = (
  client: Client,
  { pipeline, table, containing, limit }: Omit<FilesWanted, 'schema' | 'after'>,
): Promise<readonly LoadingFile[]> =>
  rowsOf<LoadingFile>(client, {
    text: `select f.name as file, f.run_id::float8 as run, f.bytes::float8 as bytes, c.records, c.rejected
      from etl.run r
      join etl.source_file f on f.run_id = r.id
      cross join lateral ${totalsOfFile} c
      where r.pipeline = $1 and ${shownStates.running} and f.table_name = $2 and ($3 = '' or strpos(f.name, $3) > 0)
      order by f.ordinal limit $4`,
    values: [pipeline, table, containing, limit],
  });
