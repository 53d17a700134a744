// Where the time of a run goes: the workers' own stopwatches, the steps of building, what the machine and, if asked for, the server
// are doing. Every run has a profiler: only the looking at the server costs anything.

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
  /** Hears every event of the run: they tell which step it is in. */
  readonly hear: (event: RunEvent) => void;
  readonly addLoad: (table: string, times: LoadTimes) => void;
  readonly addBuild: (part: BuildTime) => void;
  readonly result: () => Measurements;
  /** Ends the looking at the server. */
  readonly stop: () => Promise<void>;
}

/** How often the server's sessions are looked at. Each query takes less than a millisecond. */
const intervalMs = 25;

/** Sessions of the run, and what those at work are doing; a session without a wait event is running. */
const selectSessions = `
  select case when state is distinct from 'active' then null when wait_event_type is null then 'running'
      when wait_event in ('ClientRead', 'ClientWrite') then 'waiting for etl'
      else wait_event_type || ' ' || wait_event end as doing, count(*)::int as sessions, array_agg(pid) as pids
  from pg_stat_activity
  where application_name = $1 and pid <> pg_backend_pid()
  group by 1`;

/** Looks at the server's sessions again and again until the signal; a server that is gone ends the looking. */
const lookOn = async (
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

/** Shares of each step, the largest first. */
const sharesOf = (looks: ReadonlyMap<RunStep, ReadonlyMap<string, number>>): RunProfile['server'] =>
  [...looks].flatMap(([step, counts]) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return [...counts]
      .toSorted(([, one], [, other]) => other - one)
      .map(([doing, count]) => ({ step, doing, share: rounded(count / total) }));
  });

/** Begins to profile; the server, if it is given, is looked at over one more connection from the first step that it works in. */
export const startProfiler = (server: ServerAddress | undefined, logger: Logger): Profiler => {
  const load = new Map<string, Times>();
  const build: BuildTime[] = [];
  const looks = new Map<RunStep, Map<string, number>>();
  const machine = watchMachine();
  const over = new AbortController();
  let step: RunStep | undefined;
  let looking: Promise<void> | undefined;

  const note = (doing: string, sessions: number): void => {
    if (step === undefined) return;
    const counts = looks.get(step) ?? new Map<string, number>();
    counts.set(doing, (counts.get(doing) ?? 0) + sessions);
    looks.set(step, counts);
  };
  return {
    hear: (event) => {
      if (event.type !== 'step') return;
      step = event.step;
      machine.begin(step);
      if (server === undefined || step === 'plan') return;
      looking ??= lookOn(server, logger, over.signal, note, machine.addServer);
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
      server: sharesOf(looks),
      machine: machine.result(),
    }),
    stop: async () => {
      over.abort();
      await looking;
    },
  };
};
