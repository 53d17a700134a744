// Errors about the page: requests that it refuses.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed } = exitCodes;

export const pageErrors = {
  ETL_PAGE_BUSY: {
    message: 'the page is busy: too many requests are waiting for the database',
    hint: 'Try again in a moment.',
    retry: 'run',
    exit: failed,
  },
  ETL_PAGE_READ_ONLY: {
    message: 'this page is read-only',
    hint: 'Start it with `etl ui --control`, or `createPage({ control: true })`.',
    retry: 'never',
    exit: failed,
  },
  ETL_PAGE_FORM: {
    message: 'the form was refused, and nothing was done: {problem}',
    hint: 'Open the form again from its page, and submit it there.',
    retry: 'never',
    exit: failed,
  },
  ETL_PAGE_FORBIDDEN: {
    message: '{visitor} may not {action} {kind} {subject}',
    hint: 'The service that hosts the page decides this, with `control.allow`.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
