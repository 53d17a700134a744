// Errors about runs.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed, usage, rejects, interrupted } = exitCodes;

export const runErrors = {
  ETL_RUN_LOCKED: {
    message:
      'pipeline {pipeline} is already being run: run {run} by process {pid} on {host}, started {started}',
    hint: 'Wait for it, or stop that process.',
    retry: 'run',
    exit: failed,
  },
  ETL_RUN_TAKEN: {
    message: 'run {run} was taken over by {other} while this process had no connection',
    hint: 'Nothing to do: the other process goes on.',
    retry: 'never',
    exit: failed,
  },
  ETL_RUN_CANCELLED: {
    message: 'run {run} was cancelled',
    hint: 'What is loaded is kept: `etl retry {run}`, or the next run of its pipeline, goes on with it.',
    retry: 'never',
    exit: failed,
  },
  ETL_RUN_OVER: {
    message: 'run {run} is {state}: there is nothing to {action}',
    hint: '`etl status {run}` shows it.',
    retry: 'never',
    exit: usage,
  },
  ETL_JOB_INVALID: {
    message: 'job {job} of the run queue is not one that this sluice understands: {problem}',
    hint: 'Enqueue the run with the same version of sluice that the workers have.',
    retry: 'never',
    exit: failed,
  },
  ETL_PIPELINE_UNKNOWN: {
    message: 'there is no pipeline {pipeline} in {folder}{suggestion}',
    hint: 'A worker runs what stands in its own folder only: put the file there and start it anew.',
    retry: 'never',
    exit: failed,
  },
  ETL_PIPELINE_FOLDER: {
    message: 'the pipelines in {folder} cannot be served: {problem}',
    hint: 'Every .ts and .js file directly in the folder exports one pipeline, each with its own name; other files go into folders below it.',
    retry: 'never',
    exit: usage,
  },
  ETL_DEFINITION_DIFFERS: {
    message: 'pipeline {pipeline} has another definition here than where the run was enqueued',
    hint: 'Bring both to the same version, start the workers anew, and enqueue it again.',
    retry: 'never',
    exit: failed,
  },
  ETL_SCHEDULE_INVALID: {
    message: 'schedule {schedule} is not valid: {problem}',
    hint: "A schedule looks like `etl schedule set nightly pipelines/noaa.ts --cron '0 2 * * *' --tz Europe/Berlin`.",
    retry: 'never',
    exit: usage,
  },
  ETL_SCHEDULE_UNKNOWN: {
    message: 'there is no schedule {schedule}{suggestion}',
    hint: '`etl schedule list` shows them.',
    retry: 'never',
    exit: usage,
  },
  ETL_RUN_SUPERSEDED: {
    message: 'run {run} has another coordinator by now, who has cut its files into other pieces',
    hint: 'Nothing to do: the run goes on without this process, which may join it again.',
    retry: 'run',
    exit: failed,
  },
  ETL_JOIN_REFUSED: {
    message: 'cannot load for pipeline {pipeline}: {problem}',
    hint: 'Start the run first, with the same definition.',
    retry: 'run',
    exit: failed,
  },
  ETL_THREAD_ENDED: {
    message: 'a loading thread ended: {problem}',
    hint: 'Mend what ended it, a function of the pipeline perhaps. What is loaded is kept: the next run goes on with it.',
    retry: 'never',
    exit: failed,
  },
  ETL_RUN_UNKNOWN: {
    message: 'there is no run {run}',
    hint: '`etl status` lists the newest runs.',
    retry: 'never',
    exit: usage,
  },
  ETL_WORKER_FAILED: {
    message: 'another process that loads for this run failed: {problem}',
    hint: 'Look at its own output; then run again to continue.',
    retry: 'run',
    exit: failed,
  },
  ETL_REJECT_LIMIT: {
    message:
      'table {table}: {rejected} of {records} records{extent} rejected, the limit is {limit}; nothing was published:{examples}',
    hint: 'Fix the file or the columns, or raise rejectLimit. Every record: `etl rejects list {run} --all`.',
    retry: 'never',
    exit: rejects,
  },
  ETL_INCOMPLETE: {
    message: 'table {table}: {problem}; nothing was published',
    hint: 'Run again. If it happens twice, report it: sluice has lost count.',
    retry: 'run',
    exit: failed,
  },
  ETL_INTERRUPTED: {
    message: 'stopped by {signal}',
    hint: 'Run again: it continues where it stopped, or says that everything was published by then.',
    retry: 'run',
    exit: interrupted,
  },
} as const satisfies Record<string, CatalogueEntry>;
