// Profiles a run: times of workers, of building, of the machine and, with `--profile`, of the
// server. Every run has a profiler, because only watching the server costs time.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerAddress } from '../db/connect/address.ts';
import { withClient } from '../db/client.ts';
import type { Logger } from '../core/logger.ts';
import type { RunEvent, RunStep } from '../core/model.ts';
import type { LoadTimes, RunProfile, Times, Measurements } from '../core/profile.ts';
import { rounded } from '../core/amounts.ts';
import { watchMachine } from './machine.ts';
import { watchSessions } from './session-cpu.ts';

type BuildTime = RunProfile['build'][number];

export interface Profiler {
  /** Must get every event of the run: events tell which step the run is in. */
  readonly hear: (event: RunEvent) => void;
  readonly addLoad: (table: string, times: LoadTimes) => void;
  readonly addBuild: (part: BuildTime) => void;
  readonly result: () => Measurements;
  /** Stops watching the server. */
  readonly stop: () => Promise<void>;
}

/** How often the server is asked what the run's sessions do. Each query takes less than 1 ms. */
const intervalMs = 25;

/** What the run's sessions do; null: idle. An active session without a wait event is running. */
const selectSessions = `
  select case when state is distinct from 'active' then null when wait_event_type is null then 'running'
      when wait_event in ('ClientRead', 'ClientWrite') then 'waiting for etl'
      else wait_event_type || ' ' || wait_event end as doing, count(*)::int as sessions, array_agg(pid) as pids
  from pg_stat_activity
  where application_name = $1 and pid <> pg_backend_pid()
  group by 1`;

/** Samples the run's sessions until the signal, or until the server is lost. */
const sampleSessions = async (
  address: ServerAddress,
  logger: Logger,
  signal: AbortSignal,
  note: (doing: string, sessions: number) => void,
  used: (serverMs: number) => void,
): Promise<void> => {
  const usedBySessions = watchSessions(address);
  try {
    await withClient(address, async (client) => {
      while (!signal.aborted) {
        const { rows } = await client.query(selectSessions, [address.sessionName]);
        for (const { doing, sessions } of rows) if (doing !== null) note(doing, sessions);
        used(usedBySessions(rows.flatMap(({ pids }) => pids)));
        await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
      }
    });
  } catch (error) {
    logger.debug({ error }, 'the profile cannot sample the server any more');
  }
};

/** Shares of what sessions did in each step, the largest first. */
const sharesOf = (samples: ReadonlyMap<RunStep, ReadonlyMap<string, number>>): RunProfile['server'] =>
  [...samples].flatMap(([step, counts]) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return [...counts]
      .toSorted(([, one], [, other]) => other - one)
      .map(([doing, count]) => ({ step, doing, share: rounded(count / total) }));
  });

/** Starts a profiler. After planning, it watches `server` over a connection of its own. */
export const startProfiler = (server: ServerAddress | undefined, logger: Logger): Profiler => {
  const load = new Map<string, Times>();
  const build: BuildTime[] = [];
  const samples = new Map<RunStep, Map<string, number>>();
  const machine = watchMachine();
  const over = new AbortController();
  let step: RunStep | undefined;
  let sampling: Promise<void> | undefined;

  const note = (doing: string, sessions: number): void => {
    if (step === undefined) return;
    const counts = samples.get(step) ?? new Map<string, number>();
    counts.set(doing, (counts.get(doing) ?? 0) + sessions);
    samples.set(step, counts);
  };
  return {
    hear: (event) => {
      if (event.type !== 'step') return;
      step = event.step;
      machine.begin(step);
      if (server === undefined || step === 'plan') return;
      sampling ??= sampleSessions(server, logger, over.signal, note, machine.addServer);
    },
    addBuild: (part) => build.push(part),
    addLoad: (table, times) => {
      const sum = load.get(table) ?? { read: 0, decode: 0, copy: 0, ledger: 0 };
      for (const key of ['read', 'decode', 'copy', 'ledger'] as const) sum[key] += times[key];
      load.set(table, sum);
    },
    result: () => ({
      load: [...load].map(([table, { read, decode, copy, ledger }]) => ({
        table,
        read: rounded(read),
        decode: rounded(decode),
        copy: rounded(copy),
        ledger: rounded(ledger),
      })),
      build,
      server: sharesOf(samples),
      machine: machine.result(),
    }),
    stop: async () => {
      over.abort();
      await sampling;
    },
  };
};
