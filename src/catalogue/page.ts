// Errors about the page: requests that it refuses.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed } = exitCodes;

export const pageErrors = {
  ETL_PAGE_BUSY: {
    message: 'the page is busy: too many requests wait for the server',
    hint: 'Try again in a moment.',
    retry: 'run',
    exit: failed,
  },
  ETL_PAGE_READ_ONLY: {
    message: 'this page only reads',
    hint: 'Start it with `etl ui --control`, or `createPage({ control: true })`.',
    retry: 'never',
    exit: failed,
  },
  ETL_PAGE_FORM: {
    message: 'the form was refused, and nothing was done: {problem}',
    hint: 'Open the form again from its page, and send it from there.',
    retry: 'never',
    exit: failed,
  },
  ETL_PAGE_FORBIDDEN: {
    message: '{visitor} may not {action} {kind} {subject}',
    hint: 'The service in which the page is mounted decides that, by `control.allow`.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
