// Files in production: counts for each table, and a table's files, page by page.

import { isThere, rowsOf, type Client } from '../../db/client.ts';

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
    text: `select p.file_id::float8 as id, p.name as file, p.run_id::float8 as run, p.bytes::float8 as bytes,
        p.records::float8 as records, p.rows::float8 as rows, p.published_at as "publishedAt", p.unloaded,
        p.replaced::float8 as replaced, exists (select from etl.run r where r.id = p.run_id) as "isRunKept"
      from etl.published_file p
      where p.pipeline = $1 and p.schema_name = $2 and p.table_name = $3 and ($4 = '' or strpos(p.name, $4) > 0)
        and (p.name, p.file_id) > ($5, $6)
      order by p.name, p.file_id limit $7`,
    values: [wanted.pipeline, wanted.schema, wanted.table, wanted.containing, ...wanted.after, wanted.limit],
  });
