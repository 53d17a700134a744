// Errors about declarations, command lines and environment.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { usage, changes, failed } = exitCodes;

export const definitionErrors = {
  ETL_USAGE: { message: '{problem}', hint: '{hint}', retry: 'never', exit: usage },
  ETL_PIPELINE_FILE: {
    message: 'cannot load the pipeline file {file}: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_DEFINITION: {
    message: 'pipeline {pipeline} is not valid:{problems}',
    hint: 'Nothing was started. Correct these places in the pipeline file; docs/reference/pipeline.md describes every option.',
    retry: 'never',
    exit: usage,
  },
  ETL_DEFINITION_CYCLE: {
    message: 'pipeline {pipeline}: derived tables form a cycle: {cycle}',
    hint: 'A table is built after the tables in its `from`, so these can never start. Remove one of these `from` entries.',
    retry: 'never',
    exit: usage,
  },
  ETL_PARAM: {
    message: 'pipeline {pipeline}: parameter {param}: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_FILE_EXISTS: {
    message: '{file} already exists',
    hint: 'The file was not changed. Write to another file with --out, or overwrite this one with --force.',
    retry: 'never',
    exit: usage,
  },
  ETL_TYPES_UNKNOWN: {
    message: 'only the server knows the columns of {table}, because {because}, and {problem}',
    hint: 'Nothing was written. Name a server on which pipeline {pipeline} has published its tables, with DATABASE_URL or --database-url, or run the pipeline first.',
    retry: 'never',
    exit: usage,
  },
  ETL_TYPES_DIFFER: {
    message: '{file} differs from the tables of {pipelines}: {problem}',
    hint: 'The file was not changed. Write it again with the same command, without --check.',
    retry: 'never',
    exit: failed,
  },
  ETL_LOSS: {
    message: 'the pipeline loses something of the files, in {losses}',
    hint: 'Each line that begins with ! says what is lost and what keeps it. `etl init --strict` wrote nothing; `etl verify --strict` found no other difference.',
    retry: 'never',
    exit: changes,
  },
  ETL_LOAD_FIELDS: {
    message: 'the fields of {file} and the columns of {table} do not match:{problems}',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_ENVIRONMENT: {
    message: 'environment variable {variable}: {problem}',
    hint: 'Set the variable to a valid value, or unset it.',
    retry: 'never',
    exit: usage,
  },
  ETL_BUNDLED: {
    message: 'there is no package sluice for the bundle {file}',
    hint: 'Nothing was started. A bundle loads the package when it starts, because sluice starts threads from files of its own: install it where the bundle runs, in the folder of the bundle or one above, such as by `npm install --omit=dev` with its package.json.',
    retry: 'never',
    exit: usage,
  },
} as const satisfies Record<string, CatalogueEntry>;
