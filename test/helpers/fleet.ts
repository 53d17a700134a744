// Worker processes of one queue with a database of their own: started, enqueued for, watched, and ended by who started them.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { ask } from './fault-database.ts';
import { startRedis } from './redis-server.ts';
import { createDatabase } from './server.ts';

export interface FleetRun {
  readonly id: number;
  readonly state: string;
  readonly pid: number;
  readonly generation: number;
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

export const ended = async (child: ChildProcess): Promise<number | null> => {
  if (isAlive(child)) await once(child, 'exit');
  return child.exitCode;
};

/** `home`: where pipelines/noaa.ts and its files are. */
export const openFleet = async (home: string, queue: 'PostgreSQL' | 'Redis' = 'PostgreSQL') => {
  const database = await createDatabase();
  const redis = queue === 'Redis' ? await startRedis() : undefined;
  const children = new Map<ChildProcess, Buffer[]>();

  const etl = (...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [inject('faultProgram'), ...args], {
      cwd: home,
      env: { ...process.env, DATABASE_URL: database.url, REDIS_URL: redis?.url ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: Buffer[] = [];
    child.stdout.on('data', (bytes: Buffer) => lines.push(bytes));
    children.set(child, lines);
    return child;
  };
  const succeed = async (...args: readonly string[]): Promise<void> => {
    if ((await ended(etl(...args))) !== 0) throw new Error(`etl ${args.join(' ')} failed`);
  };
  const start = (workers = 1, chunkBytes = 2_000_000): ChildProcess =>
    etl(
      'worker',
      '--pipelines',
      'pipelines',
      '--workers',
      String(workers),
      '--chunk-bytes',
      String(chunkBytes),
    );

  return {
    start,
    startThree: (): readonly ChildProcess[] => [start(), start(), start()],
    /** What a worker wrote to its standard output. */
    said: (child: ChildProcess): string => Buffer.concat(children.get(child)!).toString(),
    enqueue: () => succeed('enqueue', 'pipelines/noaa.ts'),
    /** A run without workers and kills. */
    run: () => succeed('run', 'pipelines/noaa.ts', '--quiet'),
    emptyQueue: (): Promise<unknown> =>
      redis === undefined ? ask(database.url, 'delete from etl_queue.job') : redis.command('flushall'),
    /** Waits until the newest run, if any, is as wanted; every process that works for it is known by its session's name. */
    untilRun: async (isIt: (run: FleetRun, copying: number) => boolean): Promise<FleetRun> => {
      for (;;) {
        const [run] = await ask<FleetRun & { copying: number }>(
          database.url,
          `select id::int, state, pid, generation, (select count(distinct application_name)::int
              from pg_stat_progress_copy p join pg_stat_activity a on a.pid = p.pid
              where p.datname = current_database()) as copying
            from etl.run order by id desc limit 1`,
        ).catch(() => []);
        if (run !== undefined && isIt(run, run.copying)) return run;
        await sleep(20);
      }
    },
    /** Rows of production, a checksum of them, what the ledger says was copied, and by how many runs. */
    outcome: async (): Promise<unknown> => {
      const [sums] = await ask(
        database.url,
        `select count(*)::int as rows, sum(('x' || left(md5(t::text), 8))::bit(32)::bigint)::text as sum
          from noaa.observation t`,
      );
      const [ledger] = await ask(
        database.url,
        `select sum(c.copied)::int as copied, count(distinct r.id)::int as runs
          from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
          where f.table_name = 'observation' and c.epoch = r.epoch`,
      );
      return { ...sums, ...ledger };
    },
    close: async (): Promise<void> => {
      for (const child of children.keys()) {
        if (isAlive(child)) child.kill('SIGKILL');
        await ended(child);
      }
      await redis?.stop();
      await database.drop();
    },
  };
};
export type Fleet = Awaited<ReturnType<typeof openFleet>>;

/** What a run that nobody disturbs comes to. */
export const undisturbedOutcome = async (home: string): Promise<unknown> => {
  const fleet = await openFleet(home);
  try {
    await fleet.run();
    return await fleet.outcome();
  } finally {
    await fleet.close();
  }
};
