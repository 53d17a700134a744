// One page of the list of runs: current runs first, then the most recently ended.

import { runQuery, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { hasHistory, runColumns, shownStates, type RunSummary, type RunsWanted } from './history.ts';
import { noPipeline, refuseUnknown, selectPipelineNames } from './names.ts';
import { totalsOfRun } from './totals.ts';

export interface RunPlace {
  /** Microseconds since 1970; null: the run is under way. */
  readonly endedMicros: number | null;
  readonly id: number;
}

export interface RunsPage {
  readonly runs: readonly RunSummary[];
  /** Positions from which to read newer or older runs; undefined: there are none. */
  readonly newer: RunPlace | undefined;
  readonly older: RunPlace | undefined;
}

export interface RunsPageWanted extends Pick<RunsWanted, 'limit' | 'pipeline' | 'state'> {
  readonly from?: { readonly way: 'older' | 'newer'; readonly place: RunPlace } | undefined;
}

interface PlacedRun extends RunSummary {
  readonly endedMicros: number | null;
}

const order = 'finished_at desc nulls first, id desc';
const backward = 'finished_at nulls last, id';

/** SQL conditions for the runs before or after a position. */
const rangesOf = ({ way, place }: NonNullable<RunsPageWanted['from']>): readonly string[] => {
  const underWay = `$3::float8 is null and r.finished_at is null and r.id ${way === 'older' ? '<' : '>'} $4`;
  const ended = 'r.finished_at is not null';
  if (place.endedMicros === null) return way === 'older' ? [underWay, ended] : [underWay];
  const endedAt = `timestamptz '1970-01-01 00:00:00Z' + $3::float8 * interval '1 microsecond'`;
  const beyond = `(r.finished_at, r.id) ${way === 'older' ? '<' : '>'} (${endedAt}, $4)`;
  return way === 'older' ? [beyond] : [beyond, 'r.finished_at is null'];
};

const selectPage = ({ limit, pipeline, state, from }: RunsPageWanted): Query => {
  const way = from?.way === 'newer' ? backward : order;
  const ranges = from === undefined ? ['$3::float8 is null and $4::bigint is null'] : rangesOf(from);
  const parts = ranges.map(
    (range) => `(select * from etl.run r where ($2::text is null or r.pipeline = $2)
        and ${state === undefined ? 'true' : shownStates[state]} and ${range} order by ${way} limit $1)`,
  );
  return {
    text: `select ${runColumns}, (extract(epoch from r.finished_at) * 1e6)::float8 as "endedMicros"
      from (select * from (${parts.join(' union all ')}) every order by ${way} limit $1) r
      cross join lateral ${totalsOfRun} t
      order by r.finished_at desc nulls first, r.id desc`,
    values: [limit, pipeline, from?.place.endedMicros, from?.place.id],
  };
};

const placeOf = ({ endedMicros, id }: PlacedRun): RunPlace => ({ endedMicros, id });

/** Errors: ETL_USAGE. */
export const runsPage = async (client: Client, wanted: RunsPageWanted): Promise<RunsPage> => {
  if (!(await hasHistory(client))) return { runs: [], newer: undefined, older: undefined };
  await refuseUnknown(client, wanted.pipeline ?? null, selectPipelineNames, noPipeline);
  const { limit, from } = wanted;
  const isBackward = from?.way === 'newer';
  const { rows } = await runQuery(client, selectPage({ ...wanted, limit: limit + 1 }));
  const found: readonly PlacedRun[] = rows;
  const isMore = found.length > limit;
  const shown = isBackward ? found.slice(-limit) : found.slice(0, limit);
  const [first, last] = [shown.at(0), shown.at(-1)];
  const isNewer = isBackward ? isMore : from !== undefined;
  const isOlder = isBackward || isMore;
  return {
    runs: shown,
    newer: isNewer && first ? placeOf(first) : undefined,
    older: isOlder && last ? placeOf(last) : undefined,
  };
};
