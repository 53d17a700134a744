// Errors about runs.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed, usage, rejects, guard, interrupted } = exitCodes;

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
    hint: 'Nothing to do: the other process continues the run.',
    retry: 'never',
    exit: failed,
  },
  ETL_RUN_CANCELLED: {
    message: 'run {run} was cancelled',
    hint: 'Loaded chunks are kept: `etl retry {run}`, or the next run of its pipeline, continues from them.',
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
    message: 'this version of sluice does not understand job {job} of the run queue: {problem}',
    hint: 'Use the same version of sluice to enqueue runs and for the workers.',
    retry: 'never',
    exit: failed,
  },
  ETL_PIPELINE_UNKNOWN: {
    message: 'there is no pipeline {pipeline} in {folder}{suggestion}',
    hint: 'Use the name of a file in the folder, or of the pipeline in it. A worker knows only the pipelines that were in its folder when it started: add the file, then restart the worker.',
    retry: 'never',
    exit: failed,
  },
  ETL_PIPELINE_FOLDER: {
    message: 'cannot load the pipelines in {folder}: {problem}',
    hint: 'Every .ts and .js file directly in the folder must export one pipeline, each with a name of its own; put other files into subfolders.',
    retry: 'never',
    exit: usage,
  },
  ETL_DEFINITION_DIFFERS: {
    message: 'the definition of pipeline {pipeline} differs from the one with which the run was enqueued',
    hint: 'Use the same version of the pipeline in both places, restart the workers, and enqueue the run again.',
    retry: 'never',
    exit: failed,
  },
  ETL_SCHEDULE_INVALID: {
    message: 'schedule {schedule} is not valid: {problem}',
    hint: "Example: `etl schedule set nightly pipelines/noaa.ts --cron '0 2 * * *' --tz Europe/Berlin`.",
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
    message: 'run {run} was taken over by another process, which divided its files into different segments',
    hint: 'Nothing to do: the run continues without this process, which may join it again.',
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
    hint: 'Fix the cause, perhaps a function of the pipeline. Loaded chunks are kept: the next run continues from them.',
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
    message: 'another process loading for this run failed: {problem}',
    hint: 'Check the output of that process; then run again to continue.',
    retry: 'run',
    exit: failed,
  },
  ETL_REJECT_LIMIT: {
    message:
      '{subject}: {rejected} of {records} records{extent} rejected, the limit is {limit}; nothing was published:{examples}',
    hint: 'Fix the file or the columns, or raise rejectLimit. `etl rejects list {run} --all` lists every rejected record.',
    retry: 'never',
    exit: rejects,
  },
  ETL_CORRECTIONS: {
    message: 'no correction was kept or withdrawn: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_INCOMPLETE: {
    message: 'table {table}: {problem}; nothing was published',
    hint: 'Run again. If it happens twice, report it: it is a bug in sluice.',
    retry: 'run',
    exit: failed,
  },
  ETL_HOOK: {
    message: 'hook {hook}{where} failed: {problem}',
    hint: '{state} Correct the hook.',
    retry: 'never',
    exit: failed,
  },
  ETL_ROLLBACK: {
    message: 'pipeline {pipeline} cannot be rolled back: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_ROLLED_BACK: {
    message:
      'run {run} rolled back run {undone} of pipeline {pipeline}, and this run would publish it again: {problem}',
    hint: 'Production is unchanged. Correct or remove the files, or change the definition. `--full-refresh` publishes it again.',
    retry: 'never',
    exit: guard,
  },
  ETL_INTERRUPTED: {
    message: 'stopped by {signal}',
    hint: 'Run again: it continues where it stopped, or reports that the run was already published.',
    retry: 'run',
    exit: interrupted,
  },
} as const satisfies Record<string, CatalogueEntry>;
