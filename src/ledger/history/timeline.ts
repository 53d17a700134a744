// Where a run's time went: its steps, what each session loaded when, and what a crash emptied.

import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';

/** Points of the chart: a run's time is divided into this many equal stretches. */
const stretches = 120;

export interface Work {
  readonly place: number;
  /** null: a crash emptied the chunk, so its session is unknown. */
  readonly session: number | null;
  readonly isLost: boolean;
  readonly records: number;
  readonly bytes: number;
  readonly chunks: number;
}

/** When each step of a run ended; null: it was not reached, or had nothing to do. */
export interface RunTimes {
  readonly startedAt: Date;
  readonly loadedAt: Date | null;
  readonly testedAt: Date | null;
  readonly publishedAt: Date | null;
  readonly endAt: Date;
  readonly crashes: number;
  readonly epoch: string;
}

export interface Timeline {
  readonly times: RunTimes;
  readonly seconds: number;
  readonly stretches: number;
  readonly work: readonly Work[];
}

const selectTimes = (runId: number): Query => ({
  text: `select r.started_at as "startedAt", r.loaded_at as "loadedAt", r.crashes_seen as crashes, r.epoch,
      (select max(tested_at) from etl.data_test where run_id = r.id) as "testedAt",
      (select max(published_at) from etl.published_table where run_id = r.id) as "publishedAt",
      greatest(coalesce(r.finished_at, clock_timestamp()), r.started_at + interval '1 ms') as "endAt"
    from etl.run r where r.id = $1`,
  values: [runId],
});

/**
 * Counts a chunk twice if it was loaded twice. Uses date_part(), because extract() returns a
 * numeric, which is slower.
 */
const selectWork = (runId: number, startedAt: Date, seconds: number): Query => ({
  text: `with chunk as not materialized (
      select c.*, c.epoch <> r.epoch as is_lost
      from etl.run r
      join etl.source_file f on f.run_id = r.id
      join etl.chunk c on c.file_id = f.id
      where r.id = $1
    )
    select least(greatest(floor(date_part('epoch', w.at - $2::timestamptz) / $3::float8), 0), $4::int - 1)::int as place,
      w.session, w.is_lost as "isLost", sum(w.records)::float8 as records, sum(w.bytes)::float8 as bytes, count(*)::float8 as chunks
    from (
      select committed_at as at, case when not is_lost then session end as session, is_lost, records, byte_end - byte_start as bytes
      from chunk
      union all
      select lost_at, null, true, records, byte_end - byte_start from chunk where lost_at is not null
    ) w
    group by 1, 2, 3
    order by 1, 2`,
  values: [runId, startedAt, seconds, stretches],
});

export const sessionsOf = ({ work }: Timeline): readonly number[] => [
  ...new Set(work.flatMap(({ session, isLost }) => (isLost || session === null ? [] : [session]))),
];

export const timelineOf = async (client: Client, runId: number): Promise<Timeline> => {
  const [times] = await rowsOf<RunTimes>(client, selectTimes(runId));
  const { startedAt, endAt } = times!;
  const seconds = (endAt.getTime() - startedAt.getTime()) / 1000 / stretches;
  const work = await rowsOf<Work>(client, selectWork(runId, startedAt, seconds));
  return { times: times!, seconds, stretches, work };
};
