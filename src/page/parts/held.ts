// The list of files that the newest runs held back.

import { listHeld, type ListedHeld } from '../../ledger/production/held-files.ts';
import { codeLink } from './error-page.ts';
import { aged, type Html } from './html.ts';
import { badge } from './state.ts';
import { tableSection, type Column } from './table.ts';
import type { Section, ViewContext } from './view.ts';

const filesShown = 100;

export const heldState = ({ code }: Pick<ListedHeld, 'code'>): Html =>
  code === 'ETL_FILE_NOT_READY' ? badge('idle', 'waiting') : badge('warn', 'held back');

/** `pipeline`: undefined: all pipelines. */
export const heldSections = async (
  { client, href }: ViewContext,
  pipeline?: string,
): Promise<readonly Section[]> => {
  const held = await listHeld(client, { pipeline, limit: filesShown });
  const columns: readonly Column<ListedHeld>[] = [
    { title: 'File', cell: ({ file }) => file, isLong: true },
    { title: 'State', cell: heldState },
    { title: 'Since', cell: ({ heldAt }) => aged(heldAt) },
    { title: 'Pipeline', cell: (one) => one.pipeline },
    { title: 'Table', cell: ({ table }) => table },
    { title: 'Code', cell: ({ code }) => codeLink(code, href) },
    { title: 'Error', cell: ({ problem }) => problem, isLong: true },
  ];
  return held.length === 0 ? [] : [tableSection('held', 'Files held back', columns, held)];
};
