// Errors about source files and their headers.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed, usage, held } = exitCodes;

export const sourceErrors = {
  ETL_SOURCE_NOT_FOUND: {
    message: 'table {table}: no file matches {glob} (looked in {directory})',
    hint: 'Check the path. Paths and globs are relative to the directory in which the command runs. A glob does not match hidden files, nor names such as a.csv.tmp and a.csv.part, which are still being written.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_OUTSIDE: {
    message: 'table {table}: a parameter turns the path into {file}, which is outside {base}',
    hint: 'Nothing was read. Give the parameter a value with which the path stays inside. To allow any path for the files of a csv(), declare csv(…, { anywhere: true }).',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_UNREADABLE: {
    message: 'table {table}: cannot read {file}: {problem}',
    hint: 'Check that the path exists and that the user of this process may read it. It may also be a directory that the glob enters, or the target of a link.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_ELSEWHERE: {
    message: 'table {table}: host {host} does not have {file}: {problem}',
    hint: 'Give every host whose workers have the pipeline the same files under the same paths, by a copy or a mount, or read them from an object store or over HTTP. Loaded chunks are kept, and workers on hosts that have the files go on with the run.',
    retry: 'run',
    exit: failed,
  },
  ETL_SOURCE_SECRET: {
    message:
      'table {table}: the environment variable {name}, which holds a secret for reading the files, is not set',
    hint: 'Set {name} for every process that loads this pipeline: `etl run`, and each `etl worker`.',
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
    hint: 'The server of the file may be down, overloaded or unreachable from here. Run again later: loaded data is kept.',
    retry: 'run',
    exit: failed,
  },
  ETL_STDIN_TERMINAL: {
    message: 'table {table}: standard input is a terminal, and nothing is piped into it',
    hint: 'Pipe the data: `zcat sales.csv.gz | etl run …`. To continue a run that was stopped or killed, pipe the same data again; what that run has loaded is kept.',
    retry: 'never',
    exit: usage,
  },
  ETL_STDIN_SPACE: {
    message:
      'table {table}: the data from standard input does not fit into {directory}, where it is kept during the run; nothing was published',
    hint: 'Set TMPDIR to a directory with more space, or write the data to a file and load that.',
    retry: 'never',
    exit: failed,
  },
  ETL_STDIN_QUEUE: {
    message:
      'pipeline {pipeline}: table {table} reads standard input, which only the process of `etl run` has',
    hint: 'Run the pipeline with `etl run`. To run it on a queue, write the data to a file that every worker can read.',
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
  ETL_SOURCE_ENCODING: {
    message: '{file} is not UTF-8, and its words do not say which encoding it has{examples}',
    hint: 'Nothing was written. Name the encoding whose texts are right: --encoding {likely}.',
    retry: 'never',
    exit: usage,
  },
  ETL_SOURCE_CORRUPT: {
    message: 'table {table}: {file} is damaged at byte {byte}: {problem}',
    hint: 'Nothing of this file was published. Fetch the file again, then run again.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_EXPANDS: {
    message: 'table {table}: {file} becomes more than {what} when decompressed',
    hint: 'Reading stopped there, because the file may be a decompression bomb. If the file is right, raise the limit: csv(…, { {option}: … }), or { path: …, {option}: … } for this file alone.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_EMPTY: {
    message: 'table {table}: {file} is empty: it has neither a header nor a record',
    hint: "An empty file is nearly always a broken transfer. Fetch the file again, or exclude it: csv(['in/*.csv', '!in/empty.csv']).",
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_LINEAGE: {
    message:
      'table {table}: the rows of {file} cannot be replaced or removed: they cannot be told apart from those of other files',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_FILE_UNKNOWN: {
    message: 'pipeline {pipeline} has nothing in production from {files}',
    hint: '`etl reload` and `etl unload` take the file names that `etl files` lists. They cannot be used for tables that every run replaces: `etl run --full-refresh` loads all files of such tables again.',
    retry: 'never',
    exit: usage,
  },
  ETL_FILE_CHANGED: {
    message: 'table {table}: files changed in size, time or content since they were loaded: {files}',
    hint: 'Nothing of these files was loaded. {hint}. If a file was only copied or restored, give it its old modification time again (cp -p, touch -r).',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_NOT_READY: {
    message: 'table {table}: {file} {problem}, so it is not loaded yet',
    hint: '{hint}',
    retry: 'run',
    exit: failed,
  },
  ETL_FILES_HELD: {
    message: 'table {table}: files are held back, and nothing was published:\n{problems}',
    hint: 'Repair or replace the files, then run again. A file is tried again when it has changed; `etl reload` tries it at once.',
    retry: 'run',
    exit: held,
  },
  ETL_FILE_TWICE: {
    message:
      'table {table}: {file} is already in production: pipeline {pipeline} has loaded it; nothing was published',
    hint: 'Both pipelines append to this table, so the rows would be there twice. List other files here, or take the rows out with `etl unload` in pipeline {pipeline}. If that pipeline was renamed to this one, load everything once with --full-refresh --allow-shrink {table}.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_COPY: {
    message:
      'table {table}: records would be loaded twice, because files are copies (same size, beginning and end): {files}; nothing was loaded',
    hint: "Remove one of the two files. If both are meant, declare copies: 'load' for the table. A file that was moved keeps its rows if its modification time stays the same (mv, cp -p). If a file was compressed after it was loaded, exclude the compressed one ('!in/*.gz'). Rows of a file that is no longer listed are removed by gone: 'unload', or once by `etl unload`.",
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_CHANGED: {
    message: 'table {table}: {file} changed while the run was reading it',
    hint: 'Nothing of this file was published. Wait until the program that writes the file has finished, then run again.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_TRAILER: {
    message: 'table {table}: skipEnd leaves out the last {lines} of {file}, but the file {problem}',
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
    hint: 'Say which field a column means, as "{header}#1" or "{header}#2". Or declare all names and skip the header: csv(…, { header: […], skipLines: {skip} }), or the same options at the path of this file alone.',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_AMBIGUOUS: {
    message: 'table {table}: {file}:{line}: {one} and {other} both match {wanted}',
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
    message:
      'table {table}: {file}: a column takes its value from the path, but no part of the path matches {part}',
    hint: 'Change the pattern, or exclude the file. The pattern is matched against the path as shown here.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_VALUE: {
    message:
      'table {table}: {file}: column {column} has one value for the whole file, from a constant or the path, and it is not valid: {problem}',
    hint: 'Change the constant or the pattern, or the type of the column.',
    retry: 'never',
    exit: failed,
  },
  ETL_FILE_OPTIONS: {
    message: 'table {table}: {file} matches both {first} and {second}, which have different options',
    hint: 'Choose paths that have no file in common, or exclude the file from one of them.',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_REPEATED: {
    message:
      'table {table}: {file}:{line}: the first record repeats the names given with `header`, so it is not data',
    hint: 'That record is the header of the file. Skip it: csv(…, { header: […], skipLines: {skip} }), or the same options at the path of this file alone.',
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
      "table {table}: the header of {file} differs from that of {first}, but with staging: 'text' all files of a table need the same header",
    hint: 'Declare one table for each kind of file, or declare columns with types, which are found by their names.',
    retry: 'never',
    exit: failed,
  },
  ETL_USER_FUNCTION: {
    message: 'table {table}: {file}:{line}: a function of the pipeline threw: {problem}',
    hint: 'Nothing was published. Correct the function (.map, .check, .zod or filter), which must not throw, whatever text it gets. Then run again: a changed function loads the files of its table again.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
