// Runs the compiled `etl` as a user does, in a process of its own, and measures the whole of it and its load step.

import { fileURLToPath } from 'node:url';
import type { RunResult } from '../src/core/model.ts';
import type { RunEvent } from '../src/core/run-event.ts';
import { measured, runProgram, type Usage } from './measure.ts';
import { treeSeconds } from './processes.ts';
import type { BenchServer } from './server.ts';

const program = fileURLToPath(new URL('../src/cli/etl.mjs', import.meta.url));

/** A pipeline of the benchmark by its file name. */
export const pipelinePath = (name: string): string =>
  fileURLToPath(new URL(`pipelines/${name}`, import.meta.url));

/** The pipeline of a shape. */
export const shapePath = (name: string): string =>
  fileURLToPath(new URL(`shapes/${name}.ts`, import.meta.url));

/** Runs a command of `etl`. */
export const runEtlCommand = (
  args: readonly string[],
  server: BenchServer,
  cwd?: string,
): Promise<readonly string[]> =>
  runProgram(process.execPath, [program, ...args], { cwd, env: { DATABASE_URL: server.url } });

export interface EtlJob {
  /** Path of its file. */
  readonly pipeline: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly workers: number;
  /** Holds the files. */
  readonly directory: string;
  readonly keepStaging?: boolean;
  /** Everything is loaded, whatever was loaded before; the default. */
  readonly isWhole?: boolean;
}

export interface EtlRun {
  /** From the start of the process to its end. */
  readonly whole: Usage;
  /** The load step: from the first byte of the files to the last row in staging. */
  readonly load: Usage;
}

const argumentsOf = ({
  pipeline,
  params = {},
  workers,
  keepStaging = false,
  isWhole = true,
}: EtlJob): readonly string[] => [
  'run',
  pipeline,
  '--json',
  ...(isWhole ? ['--full-refresh'] : []),
  '--workers',
  String(workers),
  ...Object.entries(params).flatMap(([name, value]) => ['--param', `${name}=${value}`]),
  ...(keepStaging ? ['--keep-staging'] : []),
];

interface Moment {
  readonly client: number;
  readonly server: number;
}

/** CPU used until the load step began, and until the next one did: from the events of the run. */
const followLoad = (server: BenchServer) => {
  const moments: Moment[] = [];
  return {
    moments,
    see: (event: RunEvent, pid: number): void => {
      const begins = event.type === 'step' && (event.step === 'load' || moments.length === 1);
      if (begins) moments.push({ client: treeSeconds(pid), server: treeSeconds(server.pid) });
    },
  };
};

/** Runs a job; throws when it fails, and when it rejects a record. */
export const runEtl = async (server: BenchServer, job: EtlJob): Promise<EtlRun> => {
  const { moments, see } = followLoad(server);
  let result: RunResult | undefined;
  const whole = await measured(server.pid, () =>
    runProgram(process.execPath, [program, ...argumentsOf(job)], {
      cwd: job.directory,
      env: { DATABASE_URL: server.url },
      onLine: (line, pid) => {
        const event = JSON.parse(line) as RunEvent;
        see(event, pid);
        if (event.type === 'finished') result = event.result;
      },
    }),
  );
  const [begin, end] = moments;
  const steps = Object.fromEntries((result?.steps ?? []).map(({ step, seconds }) => [step, seconds]));
  if (steps['load'] === undefined || begin === undefined || end === undefined)
    throw new Error('etl run has reported no load step');
  return {
    whole: { ...whole, steps },
    load: {
      seconds: steps['load'],
      clientSeconds: end.client - begin.client,
      serverSeconds: end.server - begin.server,
      megabytes: whole.megabytes,
    },
  };
};
