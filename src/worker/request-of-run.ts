// Makes the job that continues a run from its row in the ledger.

import { readRunRequest, type RunRequest } from '../pipeline/job-payload.ts';

export interface RunRow {
  readonly pipeline: string;
  readonly definition: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Errors: ETL_JOB_INVALID. */
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
