// Counts processes that died while they worked on a run, so that it does not kill worker after worker.

import { rowsOf, type Client } from '../../db/client.ts';

interface Attempt {
  readonly startedAt: string;
  /** Null: the attempt ended without a word. */
  readonly errorCode: string | null;
}

interface Found extends Omit<Deaths, 'count'> {
  readonly earlier: readonly Attempt[];
  readonly newest: Attempt;
  readonly lastChunkAt: string | null;
}

export interface Deaths {
  /** Newest attempts that ended without a word, back to the newest that loaded a chunk. */
  readonly count: number;
  /** Milliseconds since the newest attempt began. */
  readonly sinceMs: number;
  readonly host: string;
  readonly pid: number;
}

/** Reads the deaths of a run's processes. Its newest attempt counts: the caller knows that it ended. */
export const readDeaths = async (client: Client, runId: number): Promise<Deaths> => {
  const [found] = await rowsOf<Found>(client, {
    text: `select earlier, host, pid,
        jsonb_build_object('startedAt', coalesce(continued_at, started_at), 'errorCode', error_code) as newest,
        extract(epoch from clock_timestamp() - coalesce(continued_at, started_at))::float8 * 1000 as "sinceMs",
        (select to_jsonb(max(c.committed_at)) #>> '{}' from etl.chunk c join etl.source_file f on f.id = c.file_id
          where f.run_id = r.id) as "lastChunkAt"
      from etl.run r where id = $1`,
    values: [runId],
  });
  const { earlier, newest, lastChunkAt, ...last } = found!;
  let count = 0;
  for (const { startedAt, errorCode } of [...earlier, newest].toReversed()) {
    if (errorCode !== null) break;
    count += 1;
    if (lastChunkAt !== null && Date.parse(startedAt) < Date.parse(lastChunkAt)) break;
  }
  return { count, ...last };
};
