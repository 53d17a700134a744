// Measures how busy this machine is in each step: all processes, this process, the run's sessions.

import { cpus } from 'node:os';
import type { RunStep } from '../core/model.ts';
import type { MachineUse } from '../core/profile.ts';
import { rounded } from '../core/amounts.ts';

/** Processor time in milliseconds. */
interface Usage {
  /** Of all cores by all processes, since the machine started. */
  readonly busy: number;
  /** Of all cores, busy and idle. */
  readonly total: number;
  /** Of this process with its threads. */
  readonly own: number;
  /** Of the run's sessions, if the server is on this machine. */
  readonly server: number;
}

const currentUsage = (): Usage => {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  const total = times.reduce((sum, one) => sum + one.idle + one.user + one.nice + one.sys + one.irq, 0);
  const { user, system } = process.cpuUsage();
  return { busy: total - idle, total, own: (user + system) / 1000, server: 0 };
};

/** Measures usage by step. A step that is repeated is added up. */
export const watchMachine = () => {
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
    /** Begins a step, and ends the step before. */
    begin: (step: RunStep): void => {
      end();
      current = { step, from: currentUsage() };
    },
    /** Adds milliseconds that the run's sessions have used since the last call. */
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
