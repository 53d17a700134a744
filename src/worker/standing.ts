// What a worker knows about itself, its servers and its pipelines: for /health, /ready and
// Prometheus.

import { basename } from 'node:path';
import type { Registry } from 'prom-client';
import { listFailing, type FailingPipeline } from '../ledger/history/failing.ts';
import type { BrokenFile } from './catalog.ts';
import { loadPromClient } from './scrape.ts';
import type { Look } from './watch.ts';

/** A problem is the code of an error; undefined: the server answers. */
export interface Standing {
  readonly broken: readonly BrokenFile[];
  readonly databaseProblem: () => string | undefined;
  readonly queueProblem: () => string | undefined;
  readonly isStopping: () => boolean;
  /** Pipelines whose newest attempt failed, also of others than this worker; seldom older than 3 s. */
  readonly failing: () => readonly FailingPipeline[];
}

const failingCheckMs = 3_000;

export const createFailingLook = (): { readonly look: Look; readonly failing: Standing['failing'] } => {
  let failing: readonly FailingPipeline[] = [];
  return {
    failing: () => failing,
    look: {
      everyMs: failingCheckMs,
      problem: 'the server cannot be queried for failed pipelines',
      look: async (client) => void (failing = await listFailing(client)),
    },
  };
};

/** Reasons why the worker takes no work now. */
export const unreadyLines = ({ databaseProblem, queueProblem, isStopping }: Standing): string[] => {
  const servers = { database: databaseProblem(), queue: queueProblem() };
  const lines = Object.entries(servers).flatMap(([server, problem]) =>
    problem === undefined ? [] : [`the ${server} does not answer as it should: ${problem}`],
  );
  return [...lines, ...(isStopping() ? ['the worker stops'] : [])];
};

/** Problems that another worker, or a restart of this one, would not solve. */
export const problemLines = (standing: Standing): string[] => [
  ...unreadyLines(standing),
  ...standing.broken.map(({ file }) => `cannot load ${basename(file)}`),
  ...(standing.databaseProblem() === undefined
    ? standing.failing().map(({ pipeline, errorCode }) => `${pipeline} failed: ${errorCode}`)
    : []),
];

export const showStanding = (standing: Standing, registry: Registry): void => {
  const { Gauge } = loadPromClient();
  const { broken, databaseProblem, queueProblem, isStopping, failing } = standing;
  // A host's registry outlives the worker.
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    valuesOf: () => readonly (readonly [labels: Record<Label, string>, value: number])[],
  ): void =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          if (!isStopping()) for (const [labels, value] of valuesOf()) this.set(labels, value);
        },
      }),
    );
  const file = 'Files of the worker’s folder that it could not load';
  gauge('sluice_pipeline_file_broken', file, ['file'], () =>
    broken.map((one) => [{ file: basename(one.file) }, 1]),
  );
  const up = (problem: string | undefined): number => (problem === undefined ? 1 : 0);
  gauge('sluice_server_up', 'Whether the server answers this worker as it should', ['server'], () => [
    [{ server: 'database' }, up(databaseProblem())],
    [{ server: 'queue' }, up(queueProblem())],
  ]);
  const attempt = 'Pipelines whose newest attempt failed, with their run or before it began';
  gauge('sluice_pipeline_failing', attempt, ['pipeline', 'code'], () =>
    databaseProblem() === undefined
      ? failing().map(({ pipeline, errorCode: code }) => [{ pipeline, code }, 1])
      : [],
  );
};
