// Errors about the page: requests that it refuses.

import { exitCodes, type CatalogueEntry } from './entry.ts';

const { failed } = exitCodes;

export const pageErrors = {
  ETL_PAGE_BUSY: {
    message: 'the page is busy: too many requests are waiting for the database',
    hint: 'Nothing was done. Try again in a moment.',
    retry: 'run',
    exit: failed,
  },
  ETL_PAGE_READ_ONLY: {
    message: 'this page is read-only, so it starts, cancels and changes nothing',
    hint: 'To allow actions, start it with `etl ui --control`, or `createPage({ control: true })`.',
    retry: 'never',
    exit: failed,
  },
  ETL_PAGE_FORM: {
    message: 'the form was refused, and nothing was done: {problem}',
    hint: 'Go back to the page that shows the form, reload it, and submit the form there.',
    retry: 'never',
    exit: failed,
  },
  ETL_PAGE_FORBIDDEN: {
    message: '{visitor} may not {action} {kind} {subject}; nothing was done',
    hint: 'The service that hosts the page decides who may do what, with its option `control.allow`.',
    retry: 'never',
    exit: failed,
  },
} as const satisfies Record<string, CatalogueEntry>;
