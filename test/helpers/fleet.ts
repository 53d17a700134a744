// Worker processes of one queue with a database of their own: started, enqueued for, watched, and ended by who started them.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { ask, createDatabase, databaseUrlOf } from './fault-database.ts';
import { startServer } from './fault-server.ts';
import { askUntil, withPg } from './own-server.ts';
import { startRedis } from './redis-server.ts';

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
  // The file's own server, which goes with its databases: before one is created from a copy of files, or
  // dropped, PostgreSQL waits for every session of the server, also for those of stopped processes.
  const server = await startServer();
  const url = databaseUrlOf(server.url, await createDatabase(server.url));
  const redis = queue === 'Redis' ? await startRedis() : undefined;
  const children = new Map<ChildProcess, Buffer[]>();

  const etl = (...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [inject('faultProgram'), ...args], {
      cwd: home,
      env: { ...process.env, DATABASE_URL: url, REDIS_URL: redis?.url ?? '' },
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
  const signal = (name: NodeJS.Signals): void => {
    for (const child of children.keys()) child.kill(name);
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
      redis === undefined ? ask(url, 'delete from etl_queue.job') : redis.command('flushall'),
    /** Waits until the newest run, if any, is as wanted, and fails if it is published first. */
    untilRun: (isIt: (run: FleetRun) => boolean): Promise<FleetRun> =>
      withPg(url, async (client) => {
        for (;;) {
          const { rows } = await client
            .query<FleetRun>('select id::int, state, pid, generation from etl.run order by id desc limit 1')
            .catch(() => ({ rows: [] }));
          const [run] = rows;
          if (run !== undefined && isIt(run)) return run;
          if (run?.state === 'published') throw new Error('the run was published before it was as wanted');
          await sleep(50);
        }
      }),
    /**
     * Stops all processes when so many of them are in the midst of a chunk, whose transaction then stays open: a lock holds their
     * COPYs until the processes are stopped. Each is known by its sessions' name.
     */
    stopInChunk: async (processes: number): Promise<void> => {
      const staging = await askUntil<{ name: string | null }>(
        url,
        `select string_agg(oid::regclass::text, '') as name from pg_class
          where relnamespace = to_regnamespace('etl_staging') and relname like '%observation%' and relkind = 'r'`,
        ({ name }) => name !== null,
      );
      const untilWith = (lock: string) =>
        askUntil<{ n: number }>(
          url,
          `select count(distinct a.application_name)::int as n from pg_locks l join pg_stat_activity a on a.pid = l.pid
            where a.datname = current_database() and l.relation = '${staging.name}'::regclass
              and l.mode = 'RowExclusiveLock' and ${lock}`,
          ({ n }) => n >= processes,
        );
      await withPg(url, async (holder) => {
        await holder.query(`begin; lock table ${staging.name} in share mode`);
        await untilWith('not granted');
        signal('SIGSTOP');
      });
      await untilWith('granted');
    },
    resume: () => signal('SIGCONT'),
    /** Rows of production, a checksum of them, what the ledger says was copied, and by how many runs. */
    outcome: async (): Promise<unknown> => {
      const [sums] = await ask(
        url,
        `select count(*)::int as rows, sum(('x' || left(md5(t::text), 8))::bit(32)::bigint)::text as sum
          from noaa.observation t`,
      );
      const [ledger] = await ask(
        url,
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
