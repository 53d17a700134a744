// What a soak costs while it goes on: memory and descriptors of its workers, sessions of the server, rows of the queue.

import { readFileSync, readdirSync } from 'node:fs';
import type { SoakWorker } from './soak-workers.ts';

export interface ProcessSample {
  readonly pid: number;
  readonly megabytes: number;
  readonly descriptors: number;
}

export interface Sample {
  readonly second: number;
  readonly ended: number;
  readonly connections: number;
  /** Rows of the queue's tables, or keys of Redis. */
  readonly queued: number;
  readonly processes: readonly ProcessSample[];
}

/** Nothing for a process that has ended. Linux shows them in /proc. */
export const sampleProcess = ({ pid, isPaused }: SoakWorker): readonly ProcessSample[] => {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    if (kilobytes === undefined || isPaused) return [];
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    return [{ pid, megabytes: Math.round(Number(kilobytes) / 1024), descriptors }];
  } catch {
    return [];
  }
};

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

export interface Growth {
  /** Medians of the third after the warm-up, and of the last third. */
  readonly early: number;
  readonly late: number;
  /** What leaks has a floor that rises: the most of the one, the least of the other. */
  readonly earlyMost: number;
  readonly lateLeast: number;
  readonly most: number;
}

/** How a value went; the first third is warm-up. */
export const growthOf = (values: readonly number[]): Growth => {
  const third = Math.floor(values.length / 3);
  const [early, late] = [values.slice(third, 2 * third), values.slice(-third)];
  return {
    early: middle(early),
    late: middle(late),
    earlyMost: Math.max(...early),
    lateLeast: Math.min(...late),
    most: Math.max(...values),
  };
};

/** Every table of a schema with its number of rows. */
export const countRowsSql = (schema: string): string => `
  select relname as table, (xpath('/row/n/text()', query_to_xml(
      format('select count(*) as n from %I.%I', nspname, relname), false, true, '')))[1]::text::int as rows
    from pg_class join pg_namespace n on n.oid = relnamespace
    where nspname = '${schema}' and relkind in ('r', 'p') order by 1`;
