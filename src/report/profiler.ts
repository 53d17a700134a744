// Profiles a run: workers, building, the machine and, with `--profile`, the server. Every run has a
// profiler, because only watching the server costs time.

import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../db/client.ts';
import type { Logger } from '../core/logger.ts';
import type { RunStep } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { LoadTimes, RunProfile, Times, Measurements, MachineUse } from '../core/profile.ts';
import { cpus } from 'node:os';
import { rounded } from '../core/amounts.ts';
import { readFileSync } from 'node:fs';
import type { ServerAddress } from '../db/connect/address.ts';

/** Times in /proc are in hundredths of a second. */
const msPerTick = 10;

/** Matches `user@host:port/database` if the host is this machine, or the path of a Unix socket. */
const loopback = /@(?:localhost|127\.|::1|\[::1\]|\/)/;

/** Returns a server process's CPU time in milliseconds; undefined: hidden, or not PostgreSQL. */
const usedBy = (pid: number): number | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The server's container may number processes itself, so the pid here may be another process.
    if (!text.includes('(postgres)')) return undefined;
    const [user, system] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return (user! + system!) * msPerTick;
  } catch {
    return undefined;
  }
};

/** Returns a function that returns CPU milliseconds of server processes since its last call. */
const watchSessions = ({ label, embedded }: ServerAddress): ((pids: readonly number[]) => number) => {
  const isHere = embedded !== undefined || loopback.test(label);
  const last = new Map<number, number>();
  return (pids) => {
    if (!isHere) return 0;
    let sum = 0;
    for (const pid of pids) {
      const used = usedBy(pid);
      if (used === undefined) continue;
      // An unknown session began after the last call, so all its time counts.
      sum += used - (last.get(pid) ?? 0);
      last.set(pid, used);
    }
    return sum;
  };
};

/** CPU time in milliseconds. */
interface Usage {
  /** Time of all processes since the machine started. */
  readonly busy: number;
  /** Busy and idle time of all cores. */
  readonly total: number;
  /** Time of this process with its threads. */
  readonly own: number;
  /** Time of the run's sessions; 0 unless the server is on this machine under Linux. */
  readonly server: number;
}

const currentUsage = (): Usage => {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  const total = times.reduce((sum, one) => sum + one.idle + one.user + one.nice + one.sys + one.irq, 0);
  const { user, system } = process.cpuUsage();
  return { busy: total - idle, total, own: (user + system) / 1000, server: 0 };
};

const watchMachine = () => {
  const sums = new Map<RunStep, Usage>();
  let current: { readonly step: RunStep; readonly from: Usage } | undefined;
  let server = 0;
  const end = (): void => {
    if (current === undefined) return;
    const { step, from } = current;
    const [now, sum = { busy: 0, total: 0, own: 0, server: 0 }] = [currentUsage(), sums.get(step)];
    sums.set(step, {
      busy: sum.busy + now.busy - from.busy,
      total: sum.total + now.total - from.total,
      own: sum.own + now.own - from.own,
      server: sum.server + server,
    });
    current = undefined;
    server = 0;
  };
  return {
    begin: (step: RunStep): void => {
      end();
      current = { step, from: currentUsage() };
    },
    addServer: (ms: number): void => void (server += ms),
    result: (): readonly MachineUse[] => {
      end();
      const cores = cpus().length;
      return [...sums]
        .filter(([, { total }]) => total > 0)
        .map(([step, { busy, total, own, server: used }]) => ({
          step,
          cores,
          busy: rounded(busy / total),
          own: rounded(Math.min(own, busy) / total),
          server: rounded(Math.min(used, Math.max(busy - own, 0)) / total),
        }));
    },
  };
};

type BuildTime = RunProfile['build'][number];

interface Profiler {
  /** Must get every event of the run: events tell which step the run is in. */
  readonly hear: (event: RunEvent) => void;
  readonly addLoad: (table: string, times: LoadTimes) => void;
  readonly addBuild: (part: BuildTime) => void;
  readonly result: () => Measurements;
  readonly stop: () => Promise<void>;
}

const intervalMs = 25;

/**
 * SQL: counts the run's sessions by what they do (null: idle). An active session without a wait
 * event is running.
 */
const selectSessions = `
  select case when state is distinct from 'active' then null when wait_event_type is null then 'running'
      when wait_event in ('ClientRead', 'ClientWrite') then 'waiting for etl'
      else wait_event_type || ' ' || wait_event end as doing, count(*)::int as sessions, array_agg(pid) as pids
  from pg_stat_activity
  where application_name = $1 and pid <> pg_backend_pid()
  group by 1`;

/** Samples until the signal is aborted or the server is lost. */
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

const sharesOf = (samples: ReadonlyMap<RunStep, ReadonlyMap<string, number>>): RunProfile['server'] =>
  [...samples].flatMap(([step, counts]) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return [...counts]
      .toSorted(([, one], [, other]) => other - one)
      .map(([doing, count]) => ({ step, doing, share: rounded(count / total) }));
  });

/** After planning, watches `server` over its own connection. */
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
