// What was measured, as docs/experiments/results.json keeps it: the page and its charts are made of it.

import { cpus, loadavg, totalmem } from 'node:os';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from './connect.ts';
import type { Result } from './contract.ts';
import type { Lab } from './lab.ts';

/** Where an experiment was done. */
export interface Conditions {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  /** Programs that were running or waiting for a core, on average, in the minute before. */
  readonly load: number;
  readonly node: string;
  readonly postgres: string;
  readonly server: 'its own, embedded' | 'DATABASE_URL';
  readonly settings: Readonly<Record<string, string>>;
  readonly rounds: number;
  readonly seconds: number;
}

export type Recorded = Result & { readonly conditions: Conditions };

/** Settings that decide what is written, and when. */
const settingNames = [
  'wal_level',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'data_checksums',
  'shared_buffers',
  'max_wal_size',
];

export const describeConditions = async (lab: Lab): Promise<Conditions> => {
  const rows = await ask(
    lab.url,
    `select name, current_setting(name) as value from pg_settings where name = any ($1) order by 1`,
    [settingNames],
  );
  const [version] = await ask(lab.url, 'show server_version');
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? '',
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 1e9),
    load: Math.round(loadavg()[0]! * 10) / 10,
    node: process.version,
    postgres: String(version!['server_version']),
    server: lab.own === undefined ? 'DATABASE_URL' : 'its own, embedded',
    settings: Object.fromEntries(rows.map(({ name, value }) => [name, value])),
    rounds: lab.rounds,
    seconds: lab.seconds,
  };
};

/** The page that is generated from the results. */
export const pagePath = (directory: string): string => join(directory, 'experiments/results.md');

export const resultsPath = (directory: string): string => join(directory, 'experiments/results.json');

/** What was recorded earlier; nothing the first time. */
export const readResults = (directory: string): readonly Recorded[] =>
  existsSync(resultsPath(directory))
    ? (JSON.parse(readFileSync(resultsPath(directory), 'utf8')) as readonly Recorded[])
    : [];

/** Earlier results, replaced by the new ones of the same experiments. */
export const merged = (old: readonly Recorded[], fresh: readonly Recorded[]): readonly Recorded[] => {
  const done = new Set(fresh.map(({ number }) => number));
  return [...old.filter(({ number }) => !done.has(number)), ...fresh].toSorted(
    (one, other) => one.number - other.number,
  );
};
