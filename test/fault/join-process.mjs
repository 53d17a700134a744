// A process that loads for the run of a pipeline file which another process coordinates.
//
//   node join-process.mjs <pipeline-file>     with DATABASE_URL; serves one segment at a time
//
// Its exit code is 75 when its coordinator is gone, or another one has taken the run over.

import { joinRun, loadPipelineFile } from '../../dist/index.js';

const { pipeline, directory } = await loadPipelineFile(process.argv[2]);
try {
  await joinRun(pipeline, {
    directory,
    workers: 1,
    chunkBytes: 1_450_000,
    databaseUrl: process.env.DATABASE_URL,
  });
} catch (error) {
  if (!['ETL_LOCK_LOST', 'ETL_RUN_SUPERSEDED'].includes(error.code)) throw error;
  process.exitCode = 75;
}
