// The list of failures before a run began. They have no run number, and no page of their own.

import type { RunFailure } from '../../core/model.ts';
import { codeLink } from './error-page.ts';
import { aged } from './html.ts';
import { tableSection, type Column } from './table.ts';
import type { Section, ViewContext } from './view.ts';

export const failureSections = (
  title: string,
  failures: readonly RunFailure[],
  { href }: Pick<ViewContext, 'href'>,
): readonly Section[] => {
  const columns: readonly Column<RunFailure>[] = [
    { title: 'When', cell: ({ failedAt }) => aged(failedAt) },
    { title: 'Pipeline', cell: ({ pipeline }) => pipeline ?? 'unknown' },
    { title: 'Code', cell: ({ errorCode }) => codeLink(errorCode, href) },
    { title: 'Error', cell: ({ error }) => error, isLong: true },
    { title: 'Host', cell: ({ host }) => host },
    { title: 'Queue', cell: ({ queue }) => queue },
  ];
  return failures.length === 0 ? [] : [tableSection('failures', title, columns, failures)];
};
