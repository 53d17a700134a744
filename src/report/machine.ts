// How busy this machine is during each step, by all programs and by us: what the system counts for every core.

import { cpus } from 'node:os';
import type { RunStep } from '../core/model.ts';
import type { MachineUse } from '../core/profile.ts';
import { rounded } from '../core/amounts.ts';

interface Moment {
  /** Of all cores since they started, in milliseconds. */
  readonly busy: number;
  readonly total: number;
  /** Of this process with its threads. */
  readonly own: number;
  /** Of the run's sessions on a server of this machine. */
  readonly server: number;
}

const look = (): Moment => {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  const total = times.reduce((sum, one) => sum + one.idle + one.user + one.nice + one.sys + one.irq, 0);
  const { user, system } = process.cpuUsage();
  return { busy: total - idle, total, own: (user + system) / 1000, server: 0 };
};

/** Counts from the first step on. A step that is done again counts as a whole. */
export const watchMachine = () => {
  const sums = new Map<RunStep, Moment>();
  let current: { readonly step: RunStep; readonly from: Moment } | undefined;
  let server = 0;
  const end = (): void => {
    if (current === undefined) return;
    const { step, from } = current;
    const [now, sum = { busy: 0, total: 0, own: 0, server: 0 }] = [look(), sums.get(step)];
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
    /** A step begins, and with it the last one ends. */
    begin: (step: RunStep): void => {
      end();
      current = { step, from: look() };
    },
    /** The run's sessions have used so many milliseconds since the last time. */
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
