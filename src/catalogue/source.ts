// Errors about source files and their headers.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed, usage } = exitCodes;

export const sourceErrors = {
  ETL_SOURCE_NOT_FOUND: {
    message: 'table {table}: no file matches {glob} (looked in {directory})',
    hint: 'Check the path; globs are relative to the working directory.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_OUTSIDE: {
    message: 'table {table}: a parameter points to {file}, outside of {base}',
    hint: 'Use a value that stays below it, or allow parameters to point anywhere: csv(…, { anywhere: true }).',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_UNREADABLE: {
    message: 'table {table}: cannot read {file}: {problem}',
    hint: 'Check that it exists and that this user may read it. This includes directories the glob enters and link targets.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_SECRET: {
    message: 'table {table}: the environment variable {name}, which its source needs, is not set',
    hint: 'Set {name} for every process that runs the pipeline or helps with it: etl run, and each etl worker.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_ADDRESS: {
    message: 'table {table}: cannot read {file}: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_DENIED: {
    message: 'table {table}: {file}: access is denied ({problem})',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_CREDENTIALS: {
    message: 'table {table}: no valid credentials for {file}: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_ARCHIVED: {
    message: 'table {table}: cannot read {file}: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_GONE: {
    message: 'table {table}: {file} is not there ({problem})',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_UNREACHABLE: {
    message: 'table {table}: cannot read {file}: {problem} (tries: {tries})',
    hint: 'Its server may be down, overloaded or hard to reach. Run again later: what is loaded stays loaded.',
    retry: 'run',
    exit: failed,
  },
  ETL_STDIN_TERMINAL: {
    message: 'table {table}: standard input is a terminal, and nothing is piped into it',
    hint: 'Pipe the data: `zcat sales.csv.gz | etl run …`. A run that was stopped or killed has to be given the same data again; what is loaded of it stays loaded.',
    retry: 'never',
    exit: usage,
  },
  ETL_STDIN_SPACE: {
    message:
      'table {table}: what comes from standard input does not fit into {directory}, where it is kept during the run',
    hint: 'Set TMPDIR to a directory with more room, or write the data to a file and name that.',
    retry: 'never',
    exit: failed,
  },
  ETL_STDIN_QUEUE: {
    message:
      'pipeline {pipeline}: table {table} reads standard input, which only the process of `etl run` has',
    hint: 'Run it with `etl run`; for a queue, write the data where every worker finds it.',
    retry: 'never',
    exit: usage,
  },
  ETL_SOURCE_IRREGULAR: {
    message: 'table {table}: {file} is {what}, not a regular file',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_FORMAT: {
    message: 'table {table}: {file} {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_CORRUPT: {
    message: 'table {table}: {file} is damaged at byte {byte}: {problem}',
    hint: 'Fetch the file again. Nothing of it was published.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_EXPANDS: {
    message: 'table {table}: {file} becomes more than {what} when it is decompressed',
    hint: 'Such a file is made to fill a disk. If this one is right, allow it: csv(…, { {option}: … }), or { path: …, {option}: … } for it alone.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_EMPTY: {
    message: 'table {table}: {file} is empty: it has neither a header nor a record',
    hint: 'An empty file is nearly always a broken transfer. Fetch the file again, or exclude it from the glob.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_LINEAGE: {
    message: 'table {table}: rows of {file} cannot be told from those of other files',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_FILE_UNKNOWN: {
    message: 'pipeline {pipeline} has nothing in production of {files}',
    hint: "`etl files` lists the files of tables with publish: 'append' or only: 'touched', as they are named here. The files of other tables are all loaded again by --full-refresh.",
    retry: 'never',
    exit: usage,
  },
  ETL_FILE_CHANGED: {
    message: 'table {table}: not as it was loaded, by size, time or content: {files}; nothing was loaded',
    hint: "{hint}, and changed: 'ignore' leaves its rows as they are. A file that was copied or put back needs its old time, too.",
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_TWICE: {
    message:
      'table {table}: {file} is in production already: pipeline {pipeline} has loaded it; nothing was loaded',
    hint: 'Let one pipeline load the file: list other files here, or `etl unload` it there. If the pipeline was renamed, load everything under its new name once with --full-refresh --allow-shrink {table}.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_CHANGED: {
    message: 'table {table}: {file} changed while the run was reading it',
    hint: 'Let the writer finish, then run again.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_TRAILER: {
    message: 'table {table}: {file} {problem}, so it has no last {lines} for skipEnd to leave out',
    hint: 'The file may be cut off: fetch it again. If it has no trailer, remove skipEnd.',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_MISSING: {
    message: 'table {table}: {file}:{line}: the {part} has no {headers}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_DUPLICATE: {
    message: 'table {table}: {file}:{line}: the header names "{header}" twice (fields {first} and {second})',
    hint: 'Number them, as "{header}#1" and "{header}#2", or declare all names and skip the header: csv(…, { header: […], skipLines: {skip} }), or at the path of this file alone.',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_AMBIGUOUS: {
    message: 'table {table}: {file}:{line}: {one} and {other} are both {wanted}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_EXTRA: {
    message:
      "table {table}: {file}:{line}: the header has {headers}, which no column names, and extra is 'error'",
    hint: "Declare columns for them, or leave them out on purpose: extra: 'ignore'.",
    retry: 'never',
    exit: failed,
  },
  ETL_PATH_PART: {
    message: 'table {table}: {file}: the path has no part that {part} matches',
    hint: 'Change the pattern, or exclude the file: the pattern sees the path as it is written here.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_VALUE: {
    message:
      'table {table}: {file}: column {column} has one value in the whole file, and it is refused: {problem}',
    hint: 'Change the constant or the pattern of the path, or the type of the column.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_OPTIONS: {
    message: 'table {table}: {file} is found by {first} and by {second}, which have different options',
    hint: 'Write paths that share no file, or exclude it from one of them.',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_REPEATED: {
    message: 'table {table}: {file}:{line}: the first record repeats the names given with `header`',
    hint: 'That record is the header of the file; skip it: csv(…, { header: […], skipLines: {skip} }), or at the path of this file alone.',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_INVALID: {
    message: 'table {table}: {file}:{line}: the header cannot be read: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_DIFFERS: {
    message:
      'table {table}: the header of {file} differs from that of {first}, and text staging loads both into one table',
    hint: 'Declare one table for each kind of file, or typed columns, which are found by name.',
    retry: 'never',
    exit: failed,
  },
  ETL_USER_FUNCTION: {
    message: 'table {table}: {file}:{line}: a function of the pipeline threw: {problem}',
    hint: 'Nothing was published. Fix the .map, .check, .zod or filter function; it must return for every text.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
