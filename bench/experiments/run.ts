// Runs experiments in a lab, one after the other, and removes what they made.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Experiment, Result } from './contract.ts';
import { ask } from './connect.ts';
import { clear, type Check, type Lab, type Tools } from './lab.ts';
import { startOwnServer, type Settings } from './own-server.ts';

export interface LabOptions {
  /** Undefined: a server is started, and removed in the end. */
  readonly databaseUrl?: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly isFull: boolean;
  readonly etl: string;
  /** Of the server that is started. */
  readonly settings?: Settings;
}

const majorOf = (program: string): number | undefined => {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  const [, major] = /(\d+)/.exec(stdout ?? '') ?? [];
  return major === undefined ? undefined : Number(major);
};

/** pgbench works with any server; pg_dump refuses one that is newer than itself. */
const findTools = (serverMajor: number): Tools => {
  const dumpMajor = majorOf('pg_dump');
  return {
    ...(majorOf('pgbench') !== undefined && { pgbench: 'pgbench' }),
    ...(dumpMajor !== undefined && dumpMajor >= serverMajor && { pgDump: 'pg_dump' }),
  };
};

/** Makes a lab; `close` removes it, with its server if that was started for it. */
export const openLab = async (
  options: LabOptions,
): Promise<{ readonly lab: Lab; readonly close: () => Promise<void> }> => {
  const { databaseUrl, settings, rounds, seconds, isFull, etl } = options;
  const directory = mkdtempSync(join(tmpdir(), 'sluice-experiments-files-'));
  const own = databaseUrl === undefined ? await startOwnServer(settings) : undefined;
  const close = async (): Promise<void> => {
    await own?.remove();
    rmSync(directory, { recursive: true, force: true });
  };
  const urlOf = (): string => own?.server.url ?? databaseUrl!;
  try {
    const [version] = await ask(
      urlOf(),
      `select current_setting('server_version_num')::int / 10000 as major`,
    );
    const lab: Lab = {
      get url() {
        return urlOf();
      },
      own,
      directory,
      rounds,
      seconds,
      isFull,
      etl,
      tools: findTools(version!['major']),
      checks: [],
    };
    return { lab, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Runs one experiment; what it made is removed, also when it fails. */
export const runExperiment = async (lab: Lab, experiment: Experiment, rows: number): Promise<Result> => {
  const checks: Check[] = [];
  const directory = join(lab.directory, String(experiment.number));
  mkdirSync(directory);
  // Not spread: the address may change with a restart.
  const own: Lab = Object.create(lab, {
    checks: { value: checks },
    directory: { value: directory },
  }) as Lab;
  await clear(lab.url);
  try {
    const findings = await experiment.run(own, rows);
    return { number: experiment.number, rows, ...findings, checks };
  } finally {
    await clear(lab.url).catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  }
};
