// Errors about runs.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed, usage, rejects, guard, interrupted } = exitCodes;

export const runErrors = {
  ETL_RUN_LOCKED: {
    message:
      'pipeline {pipeline} is already being run: run {run} by process {pid} on {host}, started {started}',
    hint: 'One process at a time runs a pipeline. Wait for that run, or stop its process.',
    retry: 'run',
    exit: failed,
  },
  ETL_RUN_TAKEN: {
    message: 'run {run} was taken over by {other} while this process had no connection to the server',
    hint: 'Nothing to do: the other process continues the run from what is loaded.',
    retry: 'never',
    exit: failed,
  },
  ETL_RUN_CANCELLED: {
    message: 'run {run} was cancelled',
    hint: 'Production tables are unchanged. Loaded chunks are kept: `etl retry {run}`, or the next run of the pipeline, continues from them.',
    retry: 'never',
    exit: failed,
  },
  ETL_RUN_DEADLY: {
    message: 'pipeline {pipeline}: {deaths} processes in a row died while they worked on {run}{last}',
    hint: 'Production tables are unchanged, loaded chunks are kept. Look for the reason in the logs of the machine: usually it is out of memory (lower --workers, or raise the limit of the container), or a hook or function of the pipeline ends the process. Then enqueue it again.',
    retry: 'never',
    exit: failed,
  },
  ETL_RUN_OVER: {
    message: 'run {run} is {state}: there is nothing to {action}',
    hint: '`etl status {run}` shows the run.',
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
    hint: 'Give the name of a file in the folder, or of the pipeline in the file. A worker knows only the pipelines that were in its folder when it started: after adding a file, restart the worker.',
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
    hint: 'Nothing was loaded. Install the same version of the pipeline file for the workers and where runs are enqueued, and restart the workers. Then enqueue the run again; for a run of a schedule, first repeat its `etl schedule set`, which stores the new definition.',
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
    hint: '`etl schedule list` shows all schedules.',
    retry: 'never',
    exit: usage,
  },
  ETL_RUN_SUPERSEDED: {
    message: 'run {run} was taken over by another process, so this process no longer loads for it',
    hint: 'Nothing to do: the other process continues the run, and this process may help it again.',
    retry: 'run',
    exit: failed,
  },
  ETL_JOIN_REFUSED: {
    message: 'cannot help to load pipeline {pipeline}: {problem}',
    hint: 'Start the run first, then join it with the same definition of the pipeline.',
    retry: 'run',
    exit: failed,
  },
  ETL_THREAD_ENDED: {
    message: 'a loading thread ended unexpectedly: {problem}',
    hint: 'Loaded chunks are kept: the next run continues from them. Correct the cause, often a function of the pipeline or too little memory.',
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
    hint: 'Loaded chunks are kept. Find the error in the output of that process, and correct its cause; then run again to continue.',
    retry: 'run',
    exit: failed,
  },
  ETL_REJECT_LIMIT: {
    message:
      '{subject}: {rejected} of {records} records{extent} rejected, the limit is {limit}; nothing was published:{examples}',
    hint: 'Correct the file or the columns, or raise rejectLimit (`--reject-limit` of `etl load`), then run again. `etl rejects list {run} --all` lists every rejected record.',
    retry: 'never',
    exit: rejects,
  },
  ETL_CORRECTIONS: {
    message: 'no correction was saved or withdrawn: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_INCOMPLETE: {
    message: 'table {table}: the data is not complete: {problem}; nothing was published',
    hint: 'Run again: what is missing is loaded again. If the error comes back, find out who changes the tables of the schema etl_staging; if nobody does, report it: it is a bug in sluice.',
    retry: 'run',
    exit: failed,
  },
  ETL_LISTENER: {
    message: 'the listener onEvent of this program threw: {problem}',
    hint: 'The run ended at this event; its state says whether it was published. Correct the listener: it must not throw.',
    retry: 'never',
    exit: failed,
  },
  ETL_HOOK: {
    message: 'hook {hook}{where} failed: {problem}',
    hint: '{state} Correct the hook in the pipeline file.',
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
      'run {run} rolled back run {undone} of pipeline {pipeline}, and this run would publish the same data again: {problem}',
    hint: 'Production tables are unchanged. Correct or remove the files, or change the definition. To publish that data all the same, run with --full-refresh.',
    retry: 'never',
    exit: guard,
  },
  ETL_INTERRUPTED: {
    message: 'stopped by {signal}',
    hint: 'Loaded chunks are kept. Run again: the run continues where it stopped, or reports that it was already published.',
    retry: 'run',
    exit: interrupted,
  },
} as const satisfies Record<string, CatalogueEntry>;
