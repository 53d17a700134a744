// The read model of a run's time: its steps, what each session loaded when, and what of that a crash took.

import type { Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import { rowsOf } from './history.ts';

/** Equal stretches that a run is divided into: points of a chart. */
const stretches = 120;

/** What a session loaded in a stretch. */
export interface Work {
  /** Place of the stretch, from 0. */
  readonly place: number;
  /** null: loaded by an earlier version, or taken by a crash, which leaves no trace of who had loaded it. */
  readonly session: number | null;
  readonly isLost: boolean;
  readonly records: number;
  readonly bytes: number;
  readonly chunks: number;
}

/** When the steps of a run ended; null: they have not, or there was nothing to do. */
export interface RunTimes {
  readonly startedAt: Date;
  readonly loadedAt: Date | null;
  readonly testedAt: Date | null;
  readonly publishedAt: Date | null;
  /** Of a run under way: now. */
  readonly endAt: Date;
  readonly crashes: number;
}

export interface Timeline {
  readonly times: RunTimes;
  /** Length of a stretch. */
  readonly seconds: number;
  readonly stretches: number;
  readonly work: readonly Work[];
}

const selectTimes = (runId: number): Query => ({
  text: `select r.started_at as "startedAt", r.loaded_at as "loadedAt", r.crashes_seen as crashes,
      (select max(tested_at) from etl.data_test where run_id = r.id) as "testedAt",
      (select max(published_at) from etl.published_table where run_id = r.id) as "publishedAt",
      greatest(coalesce(r.finished_at, clock_timestamp()), r.started_at + interval '1 ms') as "endAt"
    from etl.run r where r.id = $1`,
  values: [runId],
});

/** A chunk that was loaded twice counts in both its stretches. */
const selectWork = (runId: number, startedAt: Date, seconds: number): Query => ({
  text: `select least(greatest(floor(extract(epoch from w.at - $2::timestamptz)::float8 / $3::float8), 0), $4::int - 1)::int as place,
      w.session, w.lost as "isLost", sum(c.records)::float8 as records, sum(c.byte_end - c.byte_start)::float8 as bytes,
      count(*)::float8 as chunks
    from etl.run r
    join etl.source_file f on f.run_id = r.id
    join etl.chunk c on c.file_id = f.id
    cross join lateral (
      select c.committed_at as at, case when c.epoch = r.epoch then c.session end as session, c.epoch <> r.epoch as lost
      union all
      select c.lost_at, null, true where c.lost_at is not null
    ) w
    where r.id = $1
    group by 1, 2, 3
    order by 1`,
  values: [runId, startedAt, seconds, stretches],
});

/** What a run did when. The run must be there. */
export const timelineOf = async (client: Client, runId: number): Promise<Timeline> => {
  const [times] = await rowsOf<RunTimes>(client, selectTimes(runId));
  const { startedAt, endAt } = times!;
  const seconds = (endAt.getTime() - startedAt.getTime()) / 1000 / stretches;
  const work = await rowsOf<Work>(client, selectWork(runId, startedAt, seconds));
  return { times: times!, seconds, stretches, work };
};
