// The list of files that the newest runs held back.

import { listHeld, type ListedHeld } from '../../ledger/production/held-files.ts';
import { html, time } from './html.ts';
import { tableSection, type Column } from './table.ts';
import type { Section, ViewContext } from './view.ts';

const filesShown = 100;

const columns: readonly Column<ListedHeld>[] = [
  { title: 'Since', cell: ({ heldAt }) => time(heldAt) },
  { title: 'Pipeline', cell: ({ pipeline }) => pipeline },
  { title: 'Table', cell: ({ table }) => table },
  { title: 'File', cell: ({ file }) => file, isLong: true },
  { title: 'Code', cell: ({ code }) => html`<code>${code}</code>` },
  { title: 'Error', cell: ({ problem }) => problem, isLong: true },
];

export const heldSections = async ({ client }: ViewContext): Promise<readonly Section[]> => {
  const held = await listHeld(client, { limit: filesShown });
  return held.length === 0 ? [] : [tableSection('held', 'Files held back', columns, held)];
};
