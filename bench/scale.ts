// What thousands of pipelines cost beside their loads: the real scheduler, run queue and ledger, with loads that copy nothing.
//
//   npm run bench:scale [-- --pipelines 100,1000,10000 --chunks 1000000 --workers 4]
//   npm run bench:scale -- --smoke      a small one: every slot is one run, every chunk is recorded once
//
// Writes docs/operations/scale.json and scale.svg, unless it is the small one.

import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openSite } from '../src/worker/site.ts';
import type { Site } from '../src/worker/find-site.ts';
import { lookForSlots } from '../src/worker/schedule/make-due.ts';
import { listSchedules } from '../src/worker/schedule/list.ts';
import { recordJobEnd, upsertSchedule } from '../src/worker/schedule/store.ts';
import { commit, runQuery, runTogether, withClient, withTransaction, type Client } from '../src/db/client.ts';
import { askTogether } from '../src/db/ask-together.ts';
import { tryLockPipeline } from '../src/db/session/advisory-lock.ts';
import { currentEpoch, judgeLoading, selectLoading } from '../src/ledger/run/epoch.ts';
import {
  advanceRun,
  claimChunk,
  completeChunk,
  endFile,
  loadedTotals,
  insertFiles,
  insertRun,
  latestRun,
  markPublished,
} from '../src/ledger/run/ledger.ts';
import { silentLogger } from '../src/core/logger.ts';
import { defaultQueue } from '../src/core/model.ts';
import { serveRuns, type RunWork } from '../src/queue/serve-runs.ts';
import { drawScale, type LedgerPoint, type ScaleResult, type SchedulePoint } from './scale-chart.ts';
import { median } from './measure.ts';
import { withServer, type BenchServer } from './server.ts';

const { values } = parseArgs({
  options: {
    pipelines: { type: 'string', default: '100,1000,10000' },
    chunks: { type: 'string', default: '1000000' },
    workers: { type: 'string', default: '4' },
    smoke: { type: 'boolean', default: false },
  },
});
const sizes = values.smoke ? [20, 1_200] : values.pipelines.split(',').map(Number);
const chunks = values.smoke ? 2_400 : Number(values.chunks);
const workers = Number(values.workers);
const filesOfRun = 4;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const nameOf = (n: number): string => `pipeline-${n}`;

/** Schedules of one time, which is now: a slot that is decided too late is missed. */
const addSchedules = async (client: Client, count: number): Promise<void> => {
  const nextSlot = new Date(Math.floor(Date.now() / 1_000) * 1_000);
  const cron = `${nextSlot.getUTCSeconds()} ${nextSlot.getUTCMinutes()} ${nextSlot.getUTCHours()} * * *`;
  const upsert = (n: number) =>
    upsertSchedule({
      name: nameOf(n),
      pipeline: nameOf(n),
      definition: 'a'.repeat(64),
      params: {},
      pinnedParams: {},
      cron,
      timeZone: 'UTC',
      catchUp: false,
      queue: defaultQueue,
      lateAfterMs: undefined,
      everyMs: null,
      nextSlot,
    });
  // A thousand a message: one after the other, they take longer on a busy machine than a slot may be late.
  for (let n = 0; n < count; n += 1_000)
    await askTogether(client, () =>
      Array.from({ length: Math.min(1_000, count - n) }, (_, at) => runQuery(client, upsert(n + at))),
    );
};

/** All are due at once; polls until every run is on the queue. Throws if a slot got no run. */
const measureSchedules = async (site: Site, client: Client, pipelines: number): Promise<SchedulePoint> => {
  const outcomes = new Map<string, number>();
  const onSlot = (_: string, outcome: string): void =>
    void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const { look } = lookForSlots(site, { logger: silentLogger, tracer: undefined, onSlot });
  const due = async (): Promise<number> =>
    Number(
      (await client.query(`select count(*) from etl.schedule where next_slot < clock_timestamp()`)).rows[0]
        .count,
    );
  const milliseconds = await timed(async () => {
    do await look(client);
    while ((await due()) > 0);
  });
  if (outcomes.get('enqueued') !== pipelines)
    throw new Error(`${pipelines} slots were due: ${JSON.stringify([...outcomes])}`);
  return {
    pipelines,
    enqueueSeconds: milliseconds / 1000,
    idlePollMs: median([await timed(() => look(client)), await timed(() => look(client))]),
    listMs: median([await timed(() => listSchedules(client)), await timed(() => listSchedules(client))]),
  };
};

const fileOf = (pipeline: string, ordinal: number, bytes: number) => ({
  table: 'fact',
  ordinal,
  source: 'file',
  location: `/data/${pipeline}/${ordinal}.csv`,
  member: null,
  part: null,
  name: `${pipeline}/${ordinal}.csv`,
  bytes,
  fingerprint: 'f'.repeat(80),
  decoding: null,
  encoding: 'utf-8',
  reading: 0,
  header: ['id', 'name', 'amount', 'day'],
  constants: {},
  differs: null,
  dataByte: 0,
  dataLine: 1,
  dataEnd: bytes,
  lineEnd: 'lf' as const,
});

const recordsOfChunk = 300_000;
const bytesOfChunk = 32 * 1024 * 1024;
const counts = { records: recordsOfChunk, copied: recordsOfChunk, rejected: 0, filtered: 0 };

/** The statements of a run, in its order, without COPY, tables and files. Returns milliseconds of each chunk. */
const simulateRun = async (
  client: Client,
  pipeline: string,
  jobId: string,
  chunksOfFile: number,
): Promise<readonly number[]> => {
  const epoch = await currentEpoch(client);
  if (!(await tryLockPipeline(client, pipeline))) throw new Error(`${pipeline} runs already`);
  await latestRun(client, pipeline);
  const own = {
    pipeline,
    params: {},
    pinnedParams: {},
    workers: 1,
    host: hostname(),
    pid: process.pid,
    job: jobId,
    queue: defaultQueue,
    definitionHash: 'a'.repeat(64),
    tableHashes: {},
    stagedHashes: {},
    formats: {},
    isFullRefresh: false,
    directory: '/data',
    epoch,
  };
  const files = Array.from({ length: filesOfRun }, (_, n) =>
    fileOf(pipeline, n, chunksOfFile * bytesOfChunk),
  );
  const { runId, generation, ids } = await withTransaction(
    client,
    async ([inserted]) => {
      const { id, generation: first } = inserted!.rows[0];
      const { rows } = await runQuery(client, insertFiles({ id }, files));
      return { runId: id as number, generation: first as number, ids: rows.map((row) => Number(row.id)) };
    },
    { first: [insertRun(own)] },
  );
  await runQuery(client, advanceRun(runId, 'loading'));
  const lease = { runId, epoch, generation };
  const taken: number[] = [];
  for (const id of ids)
    for (let n = 0; n < chunksOfFile; n += 1) {
      const start = { byte: n * bytesOfChunk, line: 1 + n * recordsOfChunk, record: 1 + n * recordsOfChunk };
      const end = { byte: start.byte + bytesOfChunk, line: start.line + recordsOfChunk, record: 0 };
      const isLast = n === chunksOfFile - 1;
      taken.push(
        await timed(() =>
          withTransaction(
            client,
            async ([loading]) => {
              await judgeLoading(client, lease, loading!);
              return [completeChunk(id, start, end, counts), ...(isLast ? [endFile(id, end.byte)] : [])];
            },
            {
              first: [selectLoading(lease), claimChunk(id, start, epoch)],
              end: (last) => runTogether(client, [...last, commit]),
            },
          ),
        ),
      );
    }
  const totals = await loadedTotals(client, runId);
  if (totals.some(({ uncovered }) => uncovered > 0)) throw new Error(`${pipeline} has gaps`);
  await runTogether(client, [
    advanceRun(runId, 'loaded'),
    advanceRun(runId, 'publishing'),
    markPublished(runId, []),
  ]);
  await runQuery(client, recordJobEnd(jobId, 'published'));
  await client.query('select pg_advisory_unlock_all()');
  return taken;
};

const megabytesOfBookkeeping = async ({ query }: BenchServer): Promise<number> => {
  const [row] = await query(
    `select sum(pg_total_relation_size(oid))::float8 / 1e6 as megabytes from pg_class where relnamespace = 'etl'::regnamespace and relkind = 'r'`,
  );
  return row!['megabytes'] as number;
};

/** Works off the runs that the scheduler has put on the queue; a point for every tenth of the chunks. */
const measureLedger = async (
  server: BenchServer,
  site: Site,
  runs: number,
): Promise<readonly LedgerPoint[]> => {
  const chunksOfFile = Math.max(1, Math.round(chunks / runs / filesOfRun));
  const points: LedgerPoint[] = [];
  let done = 0;
  let since = performance.now();
  let batch: { readonly chunkMs: number; readonly restMs: number }[] = [];
  const batchRuns = Math.max(1, Math.floor(runs / 20));
  const point = async (): Promise<void> => {
    const taken = batch;
    const seconds = (performance.now() - since) / 1000;
    [batch, since] = [[], performance.now()];
    const chunksOfRun = chunksOfFile * filesOfRun;
    points.push({
      chunks: done * chunksOfRun,
      chunkMs: median(taken.map(({ chunkMs }) => chunkMs)),
      runMs: median(taken.map(({ restMs }) => restMs)),
      runsPerSecond: taken.length / seconds,
      chunksPerSecond: (taken.length * chunksOfRun) / seconds,
      bookkeepingMegabytes: await megabytesOfBookkeeping(server),
      processMegabytes: process.memoryUsage().rss / 1e6,
    });
    process.stderr.write(`  ${done} of ${runs} runs, ${seconds.toFixed(1)} s\n`);
  };
  let finish: (error?: unknown) => void = () => undefined;
  const all = new Promise<void>((resolve, reject) => {
    finish = (error) => (error === undefined ? resolve() : reject(error));
  });
  const openOne = async () => {
    let close: () => void = () => undefined;
    const open = new Promise<void>((resolve) => (close = resolve));
    let given: (client: Client) => void = () => undefined;
    const client = new Promise<Client>((resolve) => (given = resolve));
    const connection = withClient(site.address, async (own) => {
      given(own);
      await open;
    });
    const work: RunWork = async ({ jobId, data }) => {
      const { pipeline } = data as { readonly pipeline: string };
      try {
        const start = performance.now();
        const taken = await simulateRun(await client, pipeline, jobId, chunksOfFile);
        const sum = taken.reduce((total, one) => total + one, 0);
        batch.push({ chunkMs: median(taken), restMs: performance.now() - start - sum });
        done += 1;
        if (batch.length >= batchRuns) await point();
        if (done === runs) finish();
      } catch (error) {
        finish(error);
        throw error;
      }
      return 'done';
    };
    const service = await serveRuns(site.queues, [defaultQueue], work);
    return async (): Promise<void> => {
      await service.drain();
      await service.close();
      close();
      await connection;
    };
  };
  const ends = await Promise.all(Array.from({ length: workers }, openOne));
  try {
    await all;
  } finally {
    for (const end of ends) await end();
  }
  const expected = runs * chunksOfFile * filesOfRun;
  const [recorded] = await server.query(
    `select count(*)::int as chunks, (select count(*)::int from etl.run where state = 'published') as runs,
      (select count(*)::int from etl.schedule where job_state = 'published') as slots from etl.chunk`,
  );
  if (recorded!['chunks'] !== expected || recorded!['runs'] !== runs || recorded!['slots'] !== runs)
    throw new Error(`${runs} runs of ${expected} chunks: ${JSON.stringify(recorded)}`);
  return points;
};

const schedules: SchedulePoint[] = [];
let ledger: readonly LedgerPoint[] = [];
for (const pipelines of sizes)
  await withServer(async (server) => {
    const site = await openSite({ databaseUrl: server.url, redis: false }, [defaultQueue]);
    await withClient(site.address, async (client) => {
      await addSchedules(client, pipelines);
      schedules.push(await measureSchedules(site, client, pipelines));
    });
    process.stderr.write(`  ${JSON.stringify(schedules.at(-1))}\n`);
    if (pipelines === sizes.at(-1)) ledger = await measureLedger(server, site, pipelines);
  });
const result: ScaleResult = { schedules, ledger };
console.log(JSON.stringify(result));
if (!values.smoke) {
  const path = (name: string): string =>
    fileURLToPath(new URL(`../docs/operations/${name}`, import.meta.url));
  writeFileSync(path('scale.json'), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(path('scale.svg'), drawScale(result));
}
