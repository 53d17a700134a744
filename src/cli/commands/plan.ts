// `etl plan <pipeline>`: shows what a run would do, after a rehearsal on the server.

import { exitCodes } from '../../core/errors/errors.ts';
import { chunkBytesMax } from '../../core/limits.ts';
import { command, EndWith } from '../command.ts';
import {
  allowShrink,
  countFlag,
  databaseUrl,
  filesFlag,
  printing,
  params,
  pipelineArgument,
  toggle,
  workers,
} from '../inputs.ts';
import { openPipeline } from '../pipeline.ts';
import { findServer } from '../server.ts';
import { planLines } from '../text/plan-text.ts';

export const planCommand = command({
  name: 'plan',
  summary: 'show what a run would do, and why',
  description: 'Shows what a run would do with each file and table, and why, without doing it.',
  takes: {
    file: pipelineArgument,
    databaseUrl,
    params,
    fresh: toggle('--fresh', 'as if an unfinished run were abandoned'),
    fullRefresh: toggle('--full-refresh', 'as if everything were loaded again'),
    reload: filesFlag('reload', 'as if this file were loaded again'),
    unload: filesFlag('unload', 'as if the rows of this file were taken out of production'),
    allowShrink,
    workers,
    chunkBytes: countFlag(
      '--chunk-bytes <n>',
      'source bytes per transaction; default: 33554432',
      chunkBytesMax,
    ),
    exitCode: toggle('--exit-code', 'exit with 5 if the run would change something'),
    ...printing('print the plan as one line of JSON'),
  },
  help: `
Changes nothing. Tries SQL files, keys, indexes, constraints and data tests on the server with empty tables, and rolls them back.
This reads no rows of production and blocks no readers.
Exit codes: 0; with --exit-code, 5 if the run would change something. If the run would be refused: the exit code of the run.

Examples:
  $ etl plan pipelines/noaa.ts
  $ etl plan pipelines/noaa.ts --full-refresh
  $ etl plan pipelines/sales.ts --reload in/2024-05-01.csv
  $ etl plan pipelines/noaa.ts --json | jq '.tables[] | {table, strategy: .publishing.strategy}'
  $ etl plan pipelines/noaa.ts --exit-code; [ $? -eq 5 ] && etl run pipelines/noaa.ts`,
  async act(given) {
    const { fresh, fullRefresh, reload, unload } = given;
    const { pipeline, options } = await openPipeline(given);
    const { makePlan } = await import('../../tools/make-plan.ts');
    const asked = { fresh, fullRefresh, reload, unload, allowShrink: given.allowShrink ?? [] };
    const size = { workers: given.workers, chunkBytes: given.chunkBytes };
    const wanted = { ...options, ...size, ...asked };
    const { plan, error } = await makePlan(pipeline, wanted, () => findServer(given));
    const changes = given.exitCode && plan.outcome !== 'nothing' ? new EndWith(exitCodes.changes) : undefined;
    return {
      json: [plan],
      lines: ({ width, paint }) => planLines(plan, width, paint),
      error: error ?? changes,
    };
  },
});
