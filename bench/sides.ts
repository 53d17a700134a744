// The sides that more than one part compares: runs of `etl`, and sessions of psql.

import type { Bench } from './bench-context.ts';
import type { Side } from './compare.ts';
import { pipelinePath, runEtl } from './etl.ts';
import type { Dataset } from './generate.ts';
import { measured, type Usage } from './measure.ts';
import type { Session } from './psql.ts';
import type { PsqlScript } from './shapes/contract.ts';
import { scriptSchema } from './sql.ts';

export const dropSchemas = (...names: readonly string[]): string =>
  `drop schema if exists ${names.join(', ')} cascade`;

/** Sessions side by side, one stage after the other. */
export type Stages = readonly (readonly Session[])[];

/** An empty schema for scripts. */
export const resetScripts = `${dropSchemas(scriptSchema)}; create schema ${scriptSchema}`;

/** Memory for indexes, parallel workers for every size, and no wait for the log: what is lost in a crash can be loaded again. */
export const tuned: Session = [
  { sql: `set maintenance_work_mem = '1GB'` },
  { sql: 'set max_parallel_workers_per_gather = 2' },
  { sql: 'set min_parallel_table_scan_size = 0' },
  { sql: 'set synchronous_commit = off' },
];

/** What a session of a shape's script begins with. */
export const sessionStart = ({ settings }: PsqlScript): Session => [
  ...tuned,
  ...(settings === undefined ? [] : [{ sql: settings }]),
];

/** What a side of `etl run` counts: the whole process, or the load step alone. */
type Counted = 'whole' | 'load';

/** `etl run` of the observations. */
export const etlSide = (
  { server }: Bench,
  name: string,
  { directory, records }: Dataset,
  counted: Counted,
  workers: number,
  params: Readonly<Record<string, string>> = {},
): Side => ({
  name,
  records,
  run: async (): Promise<Usage> =>
    (await runEtl(server, { pipeline: pipelinePath('observation.ts'), params, workers, directory }))[counted],
  results: { observations: 'select * from bench_observation.observation' },
  reset: dropSchemas('bench_observation'),
});

/** Stages of psql sessions, in a schema that holds nothing but what `prepare` makes. */
export const scriptSide = (
  { server, sessions }: Bench,
  name: string,
  { records }: Pick<Dataset, 'records'>,
  stages: Stages,
  results: Side['results'],
  prepare = '',
): Side => ({
  name,
  records,
  run: () => measured(server.pid, () => sessions.run(stages)),
  results,
  reset: `${resetScripts}; ${prepare}`,
});
