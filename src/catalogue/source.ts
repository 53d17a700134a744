// Errors about source files and their headers.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed } = exitCodes;

export const sourceErrors = {
  ETL_SOURCE_NOT_FOUND: {
    message: 'table {table}: no file matches {glob} (looked in {directory})',
    hint: 'Check the path; globs are relative to the directory you run from.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_OUTSIDE: {
    message: 'table {table}: a parameter leads to {file}, outside of {base}',
    hint: 'Give one that stays below it, or let parameters lead anywhere: csv(…, { anywhere: true }).',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_UNREADABLE: {
    message: 'table {table}: cannot read {file}: {problem}',
    hint: 'Check that it exists and that this user may read it: a glob names what it leads into, too, and a link what it leads to.',
    retry: 'never',
    exit: failed,
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
  ETL_SOURCE_EMPTY: {
    message: 'table {table}: {file} is empty: it has not even a header line',
    hint: 'An empty file is nearly always a broken transfer. Fetch it again, or leave it out of the glob.',
    retry: 'never',
    exit: failed,
  },
  ETL_SOURCE_CHANGED: {
    message: 'table {table}: {file} changed while the run was reading it',
    hint: 'Let the writer finish, then run again.',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_MISSING: {
    message: 'table {table}: {file}:{line}: the header has no {headers}',
    hint: '{hint}',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_DUPLICATE: {
    message: 'table {table}: {file}:{line}: the header names {header} twice (fields {first} and {second})',
    hint: 'Rename one in the file, or give all names and skip the header: csv(…, { header: […], skipLines: {skip} }).',
    retry: 'never',
    exit: failed,
  },
  ETL_HEADER_REPEATED: {
    message: 'table {table}: {file}:{line}: the first record repeats the names given with `header`',
    hint: 'It is the header of the file; skip it: csv(…, { header: […], skipLines: {skip} }).',
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
      'table {table}: the header of {file} is not that of {first}, and text staging lands them in one table',
    hint: 'Make one table of each kind of file, or declare typed columns, which are found by name.',
    retry: 'never',
    exit: failed,
  },
  ETL_USER_FUNCTION: {
    message: 'table {table}: {file}:{line}: a function of the pipeline threw: {problem}',
    hint: 'Mend the .map, .check, .zod or filter function; it must return for every text. Nothing was published.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
