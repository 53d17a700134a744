// The page of files in production: a list of tables, and the files of one table.

import { formatBytes } from '../../core/amounts.ts';
import {
  listLoadedTables,
  loadedFilesAfter,
  type LoadedFile,
  type LoadedTable,
} from '../../ledger/history/production-files.ts';
import { formatCount } from '../../core/wording.ts';
import { ago } from '../parts/amount.ts';
import { heldSections } from '../parts/held.ts';
import { html, nothing, time, type Html } from '../parts/html.ts';
import { badge } from '../parts/state.ts';
import { table, tableSection, type Column } from '../parts/table.ts';
import { calmMs, withQuery, type MakeView, type Section, type ViewContext } from '../parts/view.ts';

const filesOfPage = 100;

type TableName = Pick<LoadedTable, 'pipeline' | 'schema' | 'table'>;

const linkOf = ({ href }: ViewContext, { pipeline, schema, table: name }: TableName, more = {}): string =>
  href(withQuery('/files', { pipeline, schema, table: name, ...more }));

const tableColumns = (context: ViewContext): readonly Column<LoadedTable>[] => [
  {
    title: 'Table',
    cell: (one) => html`<a href="${linkOf(context, one)}">${one.schema}.${one.table}</a>`,
  },
  { title: 'Pipeline', cell: ({ pipeline }) => pipeline },
  { title: 'Files', cell: ({ files }) => formatCount(files), isNumber: true },
  { title: 'Size', cell: ({ bytes }) => formatBytes(bytes), isNumber: true },
  { title: 'Rows', cell: ({ rows }) => formatCount(rows), isNumber: true },
  { title: 'Newest', cell: ({ newest }) => html`${ago(newest, context.now)}, ${time(newest)}` },
];

const stateOf = ({ unloaded, replaced }: LoadedFile): Html =>
  unloaded
    ? badge('idle', 'unloaded')
    : replaced > 0
      ? badge('warn', 'partly replaced')
      : badge('good', 'in production');

const fileColumns = ({ href }: ViewContext): readonly Column<LoadedFile>[] => [
  { title: 'File', cell: ({ file }) => file, isLong: true },
  { title: 'State', cell: stateOf },
  {
    title: 'Run',
    cell: ({ run, isRunKept }) => (isRunKept ? html`<a href="${href(`/runs/${run}`)}">${run}</a>` : run),
    isNumber: true,
  },
  { title: 'Size', cell: ({ bytes }) => formatBytes(bytes), isNumber: true },
  { title: 'Records', cell: ({ records }) => formatCount(records), isNumber: true },
  { title: 'Rows', cell: ({ rows }) => formatCount(rows), isNumber: true },
  { title: 'Published', cell: ({ publishedAt }) => time(publishedAt) },
];

/** Anybody can write the URL's query, so the position may be anything. */
const readAfter = (query: URLSearchParams): readonly [string, number] => {
  const id = Number(query.get('id'));
  return [query.get('after') ?? '', Number.isSafeInteger(id) ? id : 0];
};

const filesOf = async (context: ViewContext, chosen: TableName): Promise<Section> => {
  const { client, query } = context;
  const containing = query.get('containing') ?? '';
  const after = readAfter(query);
  const files = await loadedFilesAfter(client, { ...chosen, containing, after, limit: filesOfPage + 1 });
  const shown = files.slice(0, filesOfPage);
  const last = shown.at(-1);
  const hidden = Object.entries({ pipeline: chosen.pipeline, schema: chosen.schema, table: chosen.table });
  const next =
    files.length > filesOfPage && last !== undefined
      ? linkOf(context, chosen, { containing, after: last.file, id: last.id })
      : undefined;
  return {
    id: 'files',
    title: `Files of ${chosen.schema}.${chosen.table}`,
    body: html`<form class="search" role="search" action="${context.href('/files')}">
        ${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        <label>Name contains <input name="containing" value="${containing}" /></label> <button>Search</button>
      </form>
      ${table(fileColumns(context), shown, { caption: 'Files in production', none: 'No such files.' })}
      ${next === undefined ? nothing : html`<p class="choice"><a href="${next}" rel="next">next ${filesOfPage}</a></p>`}`,
  };
};

export const filesView: MakeView = async (context) => {
  const { client, query } = context;
  const tables = await listLoadedTables(client);
  const chosen = tables.find(
    (one) =>
      one.pipeline === query.get('pipeline') &&
      one.schema === query.get('schema') &&
      one.table === query.get('table'),
  );
  const none = 'No file is in production.';
  return {
    title: 'Files in production',
    place: 'files',
    freshMs: calmMs,
    sections: [
      ...(await heldSections(context)),
      tableSection('tables', 'Tables with files', tableColumns(context), tables, none),
      ...(chosen === undefined ? [] : [await filesOf(context, chosen)]),
    ],
  };
};
