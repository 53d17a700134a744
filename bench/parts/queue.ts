// What the queue costs, in PostgreSQL and in Redis: jobs and segments that do nothing, and small runs by a worker beside the same
// runs without one.

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { startRedis } from '../../test/helpers/redis-server.ts';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath } from '../etl.ts';
import { measured, runProgram, typescript, type Usage } from '../measure.ts';

const program = fileURLToPath(new URL('../programs/queue.ts', import.meta.url));

/** Jobs of a turn: enough that starting to serve a queue is little beside them. */
const counts = { runs: 1_000, segments: 1_000, worker: 20, direct: 20 } as const;

const titles: Readonly<Record<keyof typeof counts, string>> = {
  runs: 'jobs of the run queue that do nothing',
  segments: 'segments that nobody loads, two at a time',
  worker: 'small runs by one worker',
  direct: 'the same by runPipeline, no run queue',
};

/** Every turn begins with an empty queue and no bookkeeping. */
const reset = 'drop schema if exists bench_observation, etl, etl_staging, etl_queue cascade';

/** Start-up is not the queue's: the program itself says what its steps took. */
const work = async (
  { server, dataset }: Bench,
  kind: keyof typeof counts,
  redisUrl: string | undefined,
): Promise<Usage> => {
  const { directory } = await dataset(1_000, 2);
  // The reset forgets whose the jobs in Redis are; a prefix of the turn's own is empty, too.
  const env = { DATABASE_URL: server.url, REDIS_URL: redisUrl ?? '', ETL_REDIS_PREFIX: randomUUID() };
  const args = [...typescript, program, kind, String(counts[kind]), pipelinePath('observation.ts')];
  let lines: readonly string[] = [];
  const usage = await measured(server.pid, async () => {
    lines = await runProgram(process.execPath, args, { cwd: directory, env });
  });
  const steps = JSON.parse(lines.at(-1)!) as Readonly<Record<string, number>>;
  return { ...usage, seconds: steps['work']!, steps };
};

const sidesOf = (bench: Bench, queue: string, redisUrl?: string): readonly Side[] =>
  (Object.keys(counts) as (keyof typeof counts)[]).map((kind) => ({
    name: `${queue}: ${counts[kind]} ${titles[kind]}`,
    records: counts[kind],
    run: () => work(bench, kind, redisUrl),
    results: {},
    reset,
  }));

export const measureQueue = async (bench: Bench): Promise<PartReport> => {
  const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
  const redis = hasRedis ? await startRedis() : undefined;
  try {
    const sides = [
      ...sidesOf(bench, 'PostgreSQL'),
      ...(redis === undefined ? [] : sidesOf(bench, 'Redis', redis.url)),
    ];
    return {
      part: 'queue',
      title: 'Queues',
      sides: await compare(bench.server, sides, bench.rounds),
    };
  } finally {
    await redis?.stop();
  }
};
