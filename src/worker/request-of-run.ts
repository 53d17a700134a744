// Asks for what a run of the ledger has left to do.

import { readRunRequest, type RunRequest } from '../pipeline/job-payload.ts';

/** Columns of etl.run of a run to continue. */
export interface RunRow {
  readonly pipeline: string;
  readonly definition: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Asks for what a run of the ledger has left to do. Errors: ETL_JOB_INVALID. */
export const requestOfRun = (
  { pipeline, definition, params }: RunRow,
  jobId: string,
  allowShrink: readonly string[] = [],
): RunRequest =>
  readRunRequest(
    {
      pipeline,
      definition,
      params,
      options: { fresh: false, fullRefresh: false, resume: true, allowShrink },
    },
    jobId,
  );
