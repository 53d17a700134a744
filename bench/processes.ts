// The cost of processes, from Linux's /proc: CPU seconds of a tree of processes, and its peak of resident memory.

import { readdirSync, readFileSync } from 'node:fs';

/** Linux shows times in /proc in hundredths of a second, whatever its own clock does. */
const ticksPerSecond = 100;

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** Seconds of the process, all its threads, and of its children that have ended. */
  readonly seconds: number;
  /** Seconds of its children that have ended. */
  readonly endedChildren: number;
}

/** Undefined when the process is gone. */
const readTimes = (pid: number): ProcessTimes | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything, blanks and parentheses too.
    const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = rest.slice(9, 13).map(Number);
    const endedChildren = (endedUser + endedSystem) / ticksPerSecond;
    return {
      pid,
      parent: Number(parent),
      seconds: (user + system) / ticksPerSecond + endedChildren,
      endedChildren,
    };
  } catch {
    return undefined;
  }
};

const readAll = (): readonly ProcessTimes[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readTimes(Number(name)) ?? []);

/** Everything below a process, without it and without what is below another one. */
const below = (all: readonly ProcessTimes[], root: number, without?: number): readonly ProcessTimes[] =>
  all
    .filter(({ pid, parent }) => parent === root && pid !== without)
    .flatMap((child) => [child, ...below(all, child.pid, without)]);

/**
 * CPU seconds that a process and everything below it have used so far.
 *
 * A child that ends while we look is gone when we get to it, and its time has come to its parent, whom we may have passed
 * by then: so we look again until none has.
 */
export const treeSeconds = (root: number): number => {
  for (;;) {
    const before = readTimes(root)?.endedChildren;
    const all = readAll();
    if (readTimes(root)?.endedChildren !== before) continue;
    const tree = [...all.filter(({ pid }) => pid === root), ...below(all, root)];
    return tree.reduce((sum, { seconds }) => sum + seconds, 0);
  }
};

/** CPU seconds of our own children that have ended, and of theirs. */
export const endedChildrenSeconds = (): number => readTimes(process.pid)?.endedChildren ?? 0;

const peakMegabytes = (pid: number): number => {
  try {
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return (Number(kilobytes) * 1024) / 1e6;
  } catch {
    return 0;
  }
};

/** The kernel keeps the peak, so looking seldom misses only what was added right before the end. */
const lookIntervalMs = 100;

/**
 * Follows the peaks of the children that are started from now on, without those of one that is there: such as a server that sends
 * files is not what is measured. `stop` gives their sum in megabytes.
 */
export const watchMemory = (without: number): { readonly stop: () => number } => {
  const earlier = new Set(below(readAll(), process.pid).map(({ pid }) => pid));
  const peaks = new Map<number, number>();
  const look = (): void => {
    for (const { pid } of below(readAll(), process.pid, without))
      if (!earlier.has(pid)) peaks.set(pid, Math.max(peaks.get(pid) ?? 0, peakMegabytes(pid)));
  };
  const timer = setInterval(look, lookIntervalMs);
  return {
    stop: () => {
      clearInterval(timer);
      return [...peaks.values()].reduce((sum, peak) => sum + peak, 0);
    },
  };
};
