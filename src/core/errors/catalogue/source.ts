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
    message: 'table {table}: a parameter points to {file}, which is outside {base}',
    hint: 'Use a value that stays below it. For the files of a csv(), parameters may be allowed to point anywhere: csv(…, { anywhere: true }).',
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
    message: 'table {table}: {file} does not exist ({problem})',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_UNREACHABLE: {
    message: 'table {table}: cannot read {file}: {problem} (tries: {tries})',
    hint: 'Its server may be down, overloaded or unreachable. Run again later: loaded data is kept.',
    retry: 'run',
    exit: failed,
  },
  ETL_STDIN_TERMINAL: {
    message: 'table {table}: standard input is a terminal, and nothing is piped into it',
    hint: 'Pipe the data: `zcat sales.csv.gz | etl run …`. To continue a run that was stopped or killed, pipe the same data again; what it has loaded is kept.',
    retry: 'never',
    exit: usage,
  },
  ETL_STDIN_SPACE: {
    message:
      'table {table}: the data from standard input does not fit into {directory}, where it is kept during the run',
    hint: 'Set TMPDIR to a directory with more space, or write the data to a file and load that.',
    retry: 'never',
    exit: failed,
  },
  ETL_STDIN_QUEUE: {
    message:
      'pipeline {pipeline}: table {table} reads standard input, which only the process of `etl run` has',
    hint: 'Run it with `etl run`. To use a queue, write the data to a file that every worker can read.',
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
    message: 'table {table}: {file} becomes more than {what} when decompressed',
    hint: 'It may be a decompression bomb. If the file is right, raise the limit: csv(…, { {option}: … }), or { path: …, {option}: … } for this file alone.',
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
    message: 'table {table}: rows of {file} cannot be told apart from those of other files',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_FILE_UNKNOWN: {
    message: 'pipeline {pipeline} has nothing in production from {files}',
    hint: '`etl files` lists the names to use here. The files of tables that are replaced are all loaded again by --full-refresh.',
    retry: 'never',
    exit: usage,
  },
  ETL_FILE_CHANGED: {
    message:
      'table {table}: changed in size, time or content since it was loaded: {files}; nothing was loaded',
    hint: "{hint}; changed: 'ignore' keeps its rows as they are. If a file was only copied or restored, restore its modification time, too.",
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_TWICE: {
    message:
      'table {table}: {file} is already in production: pipeline {pipeline} has loaded it; nothing was published',
    hint: 'Let one pipeline load the file: list other files here, or `etl unload` it there. If the pipeline was renamed, load everything under its new name once with --full-refresh --allow-shrink {table}.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_COPY: {
    message:
      'table {table}: copies, by their size, beginning and end, whose records would be loaded twice: {files}; nothing was loaded',
    hint: "Remove one of the files. If both are meant, declare copies: 'load' for the table. A file that is moved keeps its rows if it keeps its modification time (mv, cp -p). Rows of a file that is no longer listed leave with gone: 'unload', or once with `etl unload`; exclude files that are compressed after they were loaded ('!in/*.gz').",
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
    hint: "Declare columns for them, or ignore them explicitly: extra: 'ignore'.",
    retry: 'never',
    exit: failed,
  },
  ETL_PATH_PART: {
    message: 'table {table}: {file}: no part of the path matches {part}',
    hint: 'Change the pattern, or exclude the file. The pattern is matched against the path as shown here.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_VALUE: {
    message:
      'table {table}: {file}: column {column} has a single value for the whole file, and it is not valid: {problem}',
    hint: 'Change the constant or the path pattern, or the type of the column.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_OPTIONS: {
    message: 'table {table}: {file} matches both {first} and {second}, which have different options',
    hint: 'Choose paths that have no file in common, or exclude it from one of them.',
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
    hint: 'Nothing was published. Fix the .map, .check, .zod or filter function; it must not throw, whatever the text.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
