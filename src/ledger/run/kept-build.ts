// Records tables that a run has built and could not publish yet, for its next attempt.

import { runQuery, type Client } from '../../db/client.ts';
import { storableJson, type Query } from '../../db/sql.ts';

/** `basis` identifies what the tables were built from; only the publishing code reads `tables`. */
interface KeptBuild {
  readonly basis: string;
  readonly tables: readonly unknown[];
}

export const keepBuild = (runId: number, build: KeptBuild): Query => ({
  text: 'update etl.run set kept_build = $2 where id = $1',
  values: [runId, storableJson(build)],
});

/** Returns the record and deletes it: if this attempt is killed, the next one builds again. */
export const takeBuild = async (client: Client, runId: number): Promise<KeptBuild | undefined> =>
  (
    await runQuery(client, {
      text: `update etl.run r set kept_build = null
        from (select id, kept_build from etl.run where id = $1 and kept_build is not null for update) before
        where r.id = before.id returning before.kept_build as build`,
      values: [runId],
    })
  ).rows[0]?.build;

/**
 * Returns a hash of the run's chunks and of the schema's publications: SQL of derived tables may
 * read both.
 */
export const loadedState = async (client: Client, runId: number, schema: string): Promise<string> =>
  (
    await client.query(
      `select md5(concat_ws(' ',
          (select json_agg(row(c.file_id, c.byte_start, c.byte_end, c.copied, c.epoch, c.committed_at) order by c.file_id, c.byte_start)
            from etl.source_file f join etl.chunk c on c.file_id = f.id where f.run_id = $1),
          (select row(count(*), max(run_id)) from etl.published_table where schema_name = $2))) as state`,
      [runId, schema],
    )
  ).rows[0].state;
