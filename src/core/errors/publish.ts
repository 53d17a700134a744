// Errors about SQL files, built tables, tests and publishing.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed, usage, guard, changes } = exitCodes;

export const publishErrors = {
  ETL_TRANSFORM: {
    message: 'table {table}: the server refused the SQL, {file}{where}: {sqlstate} {problem}',
    hint: 'Nothing was published. Correct the SQL: it must be one SELECT that changes nothing. {hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_ROW_DIFFERS: {
    message:
      'table {table}: the columns of its SQL are not those declared in `row`: {problem}; nothing was published',
    hint: 'Change the SQL, for example with a cast such as `count(*)::integer`, or change `row`.',
    retry: 'never',
    exit: failed,
  },
  ETL_TRANSFORM_FILE: {
    message: 'table {table}: cannot read SQL file {file}: {problem}',
    hint: 'SQL files are relative to the directory of the pipeline file.',
    retry: 'never',
    exit: usage,
  },
  ETL_DUPLICATE_KEY: {
    message: 'table {table}: {key} is not unique: {detail}; nothing was published',
    hint: 'Remove the duplicate records from the source, or choose another key.',
    retry: 'never',
    exit: failed,
  },
  ETL_DUPLICATE_ROWS: {
    message: 'table {table}: {key} is not unique: {records}; nothing was published',
    hint: 'Remove the duplicates from the files or from the production table, or choose another key.',
    retry: 'never',
    exit: failed,
  },
  ETL_CONSTRAINT: {
    message: 'table {table}: {constraint} is violated by {records}; nothing was published',
    hint: 'Correct these records in their files, or change the constraint.',
    retry: 'never',
    exit: failed,
  },
  ETL_CONSTRAINT_REFUSED: {
    message: 'table {table}: the server refuses to create {constraint}: {problem}',
    hint: 'Production tables are unchanged. Correct the constraint in the pipeline file. {hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_ATTRIBUTE_REFUSED: {
    message: 'table {table}: the server refuses `{statement}`: {problem}; nothing was published',
    hint: 'Change the attribute in the pipeline file. {hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_ROWS_LOST: {
    message: 'table {table}: loading everything again would delete {problem}; nothing was published',
    hint: 'A full refresh makes the table from the listed files alone. If these rows may be deleted, run again with `--full-refresh --allow-shrink {table}` (options `fullRefresh`, `allowShrink`). To keep them, run without `--full-refresh`: only missing files are loaded. If this run continued an interrupted full refresh, abandon that with `etl run --fresh`.',
    retry: 'never',
    exit: failed,
  },
  ETL_PUBLISH_NULL: {
    message: 'table {table}: column {column} contains nulls, but {reason}; nothing was published',
    hint: 'Correct the SQL, or change the key.',
    retry: 'never',
    exit: failed,
  },
  ETL_PARTITION_KEY: {
    message:
      'table {table}: {rows} in no partition, because partitionBy has no partition for this value of {column}: {row}; nothing was published',
    hint: 'Leave out such rows with a filter, or give the column a value in the SQL.',
    retry: 'never',
    exit: failed,
  },
  ETL_PUBLISH_SHAPE: {
    message: 'table {table} cannot be published: {problem}',
    hint: 'Production tables are unchanged. {hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_PUBLISH_NO_KEY: {
    message:
      'table {table}: {dependents} refer to it, so its rows must be replaced by key, but it has no primaryKey; nothing was published',
    hint: 'Declare a primaryKey for the table.',
    retry: 'never',
    exit: failed,
  },
  ETL_PUBLISH_REFUSED: {
    message: 'table {table}: the server refused to publish: {sqlstate} {problem}',
    hint: 'Production tables are unchanged. {hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_PUBLISH_WITHHELD: {
    message:
      'table {table}: the server skipped rows without reporting an error: {problem}; nothing was published',
    hint: 'To find the reason, {cause}. Triggers, rules and policies that people created also apply to a run: a trigger that returns null suppresses the row. Drop or disable it, or have it return the row, then run again: nothing is loaded again.',
    retry: 'never',
    exit: failed,
  },
  ETL_GUARD: {
    message: 'nothing was published, because tables have fewer rows than their guard requires:{problems}',
    hint: 'If the files are right, run again with `--allow-shrink {tables}` (option `allowShrink`), which loads nothing again; or change the `guard` of the table. If files are missing or cut off, correct them and run again.',
    retry: 'never',
    exit: guard,
  },
  ETL_TEST_FAILED: {
    message: 'data tests failed{state}:{problems}',
    hint: 'Correct the files or the SQL, or change the tests. {hint}',
    retry: 'never',
    exit: guard,
  },
  ETL_TEST_REFUSED: {
    message: 'table {table}: the test {test} cannot be run: {where}{problem}',
    hint: 'Production tables are unchanged. Correct the test in the pipeline file. {hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_TEST_NO_TABLE: {
    message: 'table {table}: {name} does not exist, so there is nothing to test',
    hint: 'Run the pipeline first.',
    retry: 'never',
    exit: failed,
  },
  ETL_VERIFY_DIFFERENT: {
    message: 'files and production differ:{problems}',
    hint: 'Somebody changed rows of the production table, or the load was wrong. Nothing was changed now. `etl run --full-refresh` loads all files again.',
    retry: 'never',
    exit: guard,
  },
  ETL_VERIFY_NOTHING: {
    message: 'pipeline {pipeline}: no file{of} is in production, so there is nothing to verify',
    hint: 'Run the pipeline first.',
    retry: 'never',
    exit: changes,
  },
  ETL_VERIFY_MOVED: {
    message:
      'table {table}: gave up after {times} tries, because each time something was published while it was being read',
    hint: 'Verify when no run is in progress.',
    retry: 'run',
    exit: failed,
  },
  ETL_VERIFY_HASH: {
    message: 'the server hashes text differently than expected, so values cannot be compared',
    hint: 'Nothing was verified. The processor of the server is big-endian, or this version of sluice does not know this version of PostgreSQL yet.',
    retry: 'never',
    exit: failed,
  },
  ETL_PUBLISH_CHANGED: {
    message:
      'the tables were built {builds} times, and each time somebody changed production tables meanwhile, {what} the last time; publishing would undo that',
    hint: 'No row was published. Run again once nobody alters these tables: nothing is loaded again.',
    retry: 'run',
    exit: failed,
  },
  ETL_PUBLISH_OVERTAKEN: {
    message: 'table {table}: {problem} after this run had chosen which files to load; nothing was published',
    hint: 'Run again: the files are chosen by what is in production now, and what is loaded is kept.',
    retry: 'run',
    exit: failed,
  },
  ETL_PUBLISH_LOCKED: {
    message:
      'table {table}: could not be swapped within {seconds} s, because it is locked by process {pids} of the server',
    hint: 'Production tables are unchanged. Wait for that process, or end it (`select pg_terminate_backend(pid)`), then run again.',
    retry: 'run',
    exit: failed,
  },
  ETL_PUBLISH_SNAPSHOT: {
    message:
      'nothing was published within {seconds} s: {holders} took a snapshot before the new tables were built, and would see them empty',
    hint: 'Production tables are unchanged, and the built tables are kept. Wait for these sessions or end them, then run again: nothing is loaded or built again. `snapshotWaitMs` of the pipeline sets how long to wait; `false` publishes without waiting.',
    retry: 'run',
    exit: failed,
  },
  ETL_PUBLISH_MEMORY: {
    message: 'the server ran out of memory while publishing {tables} tables at once: {problem}',
    hint: 'Production tables are unchanged. If the problem is shared memory, raise max_locks_per_transaction, which is {locks}, and restart the server; then run again.',
    retry: 'never',
    exit: failed,
  },
  ETL_INTERNAL: {
    message: 'unexpected failure: {problem}',
    hint: 'Run again with --debug to see the stack trace, and report it: sluice did not expect this error.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
