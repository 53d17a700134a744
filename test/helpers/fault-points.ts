// Names for the places of a run at which something goes wrong.

import type { Effect } from './fault-messages.ts';
import type { Point } from './fault-proxy.ts';

const sql =
  (pattern: RegExp) =>
  (effect: Effect): boolean =>
    effect.kind !== 'copy data' && effect.kind !== 'copy done' && pattern.test(effect.sql);

/** A commit, by the last statement of its transaction. */
const commitAfter =
  (pattern: RegExp) =>
  (effect: Effect): boolean =>
    /(?:^|; )commit$/.test(effect.sql) && pattern.test(effect.previous);

/** In one message with what begins the chunk's transaction and its COPY, or ends the transaction. */
export const isClaim = sql(/^begin\b.*; insert into etl\.chunk/);
export const isChunkCommit = sql(/^update etl\.chunk .*; commit$/);
const isPublishCommit = commitAfter(/^update etl\.run/);
/** The call, not the migration that makes the function. */
const isJobDone = sql(/\bmove_to_completed(?:_fetch)?\( ?\$1,/);

const before = (name: string, matches: Point['matches'], nth = 1): Point => ({
  name: `before ${name}`,
  when: 'before',
  nth,
  matches,
});
const after = (name: string, matches: Point['matches'], nth = 1): Point => ({
  name: `after ${name}`,
  when: 'after',
  nth,
  matches,
});

/** The n-th effect of a run, whatever it is. */
export const effectPoint = (n: number): Point => ({
  name: `effect ${n}`,
  when: 'before',
  nth: n,
  matches: () => true,
});

const isLoaded = sql(/^update etl\.run set state = \$2/);

/** The n-th effect from the first claim of a chunk until the run is said to be loaded; of the data of a COPY one counts. */
export const loadEffectPoint = (n: number): Point => {
  let state: 'plan' | 'load' | 'build' = 'plan';
  let copies = 0;
  const matches = (effect: Effect): boolean => {
    const isLast = state === 'load' && isLoaded(effect);
    if (state === 'plan' && isClaim(effect)) state = 'load';
    const isOfLoad = state === 'load';
    if (isLast) state = 'build';
    if (effect.kind === 'query' && /(?:^|; )copy /.test(effect.sql)) copies += 1;
    return isOfLoad && (effect.kind !== 'copy data' || copies-- > 0);
  };
  return { name: `effect ${n} of the load`, when: 'before', nth: n, matches };
};

/** Points of the plan: nothing is loaded yet. */
const planPoints: readonly Point[] = [
  before('the lock is taken', sql(/pg_try_advisory_lock/)),
  before('the run is written', sql(/; insert into etl\.run \(/)),
  // Staging tables are made under the path of the author's types, which is taken back last.
  after('the run is committed', commitAfter(/^set local search_path/)),
];

/** Chunks of the small files; fault-setup.ts refuses to begin when they are fewer. */
export const smallChunks = 20;

/** Jobs of the small files: each is loaded whole. */
const smallJobs = 5;

/** Points of the load of the small files. */
export const loadPoints: readonly Point[] = [
  before('the jobs are added', sql(/\badd_jobs_bulk\( ?\$1,/)),
  before('the first chunk is claimed', isClaim),
  before('the first COPY data', ({ kind }) => kind === 'copy data'),
  before('a COPY in the middle ends', ({ kind }) => kind === 'copy done', smallChunks / 2),
  before('a chunk in the middle is committed', isChunkCommit, smallChunks / 2),
  after('a chunk in the middle is committed', isChunkCommit, smallChunks / 2),
  before('a job is completed', isJobDone),
  after('a job is completed', isJobDone),
  before('a late chunk is claimed', isClaim, smallChunks),
  after('a late chunk is committed', isChunkCommit, smallChunks),
  before('the last job is completed', isJobDone, smallJobs),
];

/** Points between load and publish, with everything in staging. */
export const buildPoints: readonly Point[] = [
  before('the run is said to be loaded', isLoaded, 2),
  before('the build schema is made', sql(/^create schema "?etl_build_noaa/)),
  before('the rows are built', sql(/^create table "?etl_build_noaa"?\."?observation/)),
  before('the primary key is built', sql(/^alter table "?etl_build_noaa"?\."?observation"? add constraint/)),
  // The rehearsal makes one in a schema of another name.
  before('an index is built', sql(/^create index .* on "?etl_build_noaa"?\./)),
  before('the derived table is built', sql(/^create table "?etl_build_noaa"?\."?daily/)),
  before('statistics are gathered', sql(/(?:^|; )analyze/), 2),
];

/** All tables are built, and nothing of the publication has begun. */
export const builtPoint: Point = before('the run is said to be publishing', isLoaded, 3);

/** Points of the publishing transaction, before its commit. */
const publishPoints: readonly Point[] = [
  before('publishing begins', sql(/^begin; set local idle_in_transaction_session_timeout/)),
  before('the built tables are moved beside the old ones', sql(/^alter .* rename to "etl_new_/)),
  before('the publication is committed', isPublishCommit),
];

/** The publication is committed, and the client does not know. */
export const publishedPoint: Point = after('the publication is committed', isPublishCommit);

/** Tidying up: production is what it shall be. */
export const tidyPoint: Point = before(
  'the staging table is dropped',
  // Once before loading, for what earlier runs left.
  sql(/^do .*drop table if exists %I\.%I/),
  2,
);

const isExchanged = commitAfter(/^with outcome as/);

/** Points of the transactions that load corrections in the place of rejects. */
export const correctionPoints: readonly Point[] = [
  before('the exchange is committed', isExchanged),
  after('the exchange is committed', isExchanged),
];

/** The n-th effect from the moment on that a run looks for corrections to load. */
export const correctionEffectPoint = (n: number): Point => {
  const isSelect = sql(/ r\.correction is distinct from c\.id /);
  let hasBegun = false;
  return {
    name: `effect ${n} of the exchange`,
    when: 'before',
    nth: n,
    matches: (effect) => (hasBegun ||= isSelect(effect)),
  };
};

/** COPY data in the middle of a chunk, the `nth` time that any is sent. */
export const midCopyPoint = (nth: number): Point =>
  before('COPY data', ({ kind }) => kind === 'copy data', nth);

/** The `nth` connection of ours is open, and its first statement is on its way. */
export const setUpPoint = (nth: number): Point =>
  before('a session is set up', sql(/^set local .*; set local application_name = 'sluice noaa /), nth);

/** Rows of a table of tests, by their names. */
export const byName = (points: readonly Point[]): [string, Point][] =>
  points.map((point) => [point.name, point]);

/** Rows of the points before the publication is committed: of all, or of those with these names. */
export const unpublishedPoints = (names?: readonly string[]): [string, Point][] => {
  const all = [...planPoints, ...loadPoints, ...buildPoints, ...publishPoints];
  if (names === undefined) return byName(all);
  return names.map((name) => [name, all.find((point) => point.name === name)!]);
};
