// The list of failures before a run began. They have no run number, and no page of their own.

import type { RunFailure } from '../../core/model.ts';
import { failuresShown, listFailures } from '../../ledger/run/failure.ts';
import { html, time } from './html.ts';
import { tableSection, type Column } from './table.ts';
import type { Section, ViewContext } from './view.ts';

const columns = (where: Column<RunFailure>): readonly Column<RunFailure>[] => [
  { title: 'When', cell: ({ failedAt }) => time(failedAt) },
  { title: 'Pipeline', cell: ({ pipeline }) => pipeline ?? 'unknown' },
  where,
  { title: 'Code', cell: ({ errorCode }) => html`<code>${errorCode}</code>` },
  { title: 'Error', cell: ({ error }) => error, isLong: true },
];

export const failureSections = async (
  { client }: ViewContext,
  where: Column<RunFailure>,
): Promise<readonly Section[]> => {
  const failures = await listFailures(client, { limit: failuresShown });
  return failures.length === 0
    ? []
    : [tableSection('failures', 'Failures before a run began', columns(where), failures)];
};
