// Errors about declarations, command lines and environment.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { usage } = exitCodes;

export const definitionErrors = {
  ETL_USAGE: { message: '{problem}', hint: '{hint}', retry: 'never', exit: usage },
  ETL_PIPELINE_FILE: {
    message: 'cannot load pipeline {file}: {problem}',
    hint: '{hint}',
    retry: 'never',
    exit: usage,
  },
  ETL_DEFINITION: {
    message: 'pipeline {pipeline} is not valid:{problems}',
    hint: 'Correct the declaration; docs/reference/pipeline.md describes every key.',
    retry: 'never',
    exit: usage,
  },
  ETL_DEFINITION_CYCLE: {
    message: 'pipeline {pipeline}: derived tables form a cycle: {cycle}',
    hint: 'Remove one of the `from` entries so that the tables can be built in order.',
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
    hint: 'Write to another file with --out, or overwrite this one with --force.',
    retry: 'never',
    exit: usage,
  },
  ETL_ENVIRONMENT: {
    message: 'environment variable {variable}: {problem}',
    hint: 'Correct or unset it.',
    retry: 'never',
    exit: usage,
  },
} as const satisfies Record<string, CatalogueEntry>;
