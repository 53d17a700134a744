// The page of files: those of one table, files held back, and the tables.

import { formatBytes } from '../../core/amounts.ts';
import {
  listLoadedTables,
  loadedFilesAfter,
  loadingFiles,
  type LoadedFile,
  type LoadedTable,
} from '../../ledger/history/production-files.ts';
import { formatCount } from '../../core/wording.ts';
import { listHeld, type ListedHeld } from '../../ledger/production/held-files.ts';
import { codeLink } from '../parts/error-page.ts';
import { heldSections, heldState } from '../parts/held.ts';
import { aged, html, nothing, type Html } from '../parts/html.ts';
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
  { title: 'Newest', cell: ({ newest }) => aged(newest) },
];

const stateOf = ({ unloaded, replaced }: LoadedFile): Html =>
  unloaded
    ? badge('idle', 'unloaded')
    : replaced > 0
      ? badge('warn', 'partly replaced')
      : badge('good', 'in production');

/** A file that is in production, held back, or loaded by a run under way. */
interface ShownFile {
  readonly file: string;
  readonly state: Html;
  /** When the file was published, or held back. */
  readonly at?: Date;
  readonly rows?: number;
  readonly rejected?: number | null;
  readonly records?: number;
  readonly bytes?: number;
  readonly run?: number;
  readonly isRunKept?: boolean;
}

const numberColumn = (
  title: string,
  valueOf: (file: ShownFile) => number | null | undefined,
  write = formatCount,
): Column<ShownFile> => ({
  title,
  cell: (file) => {
    const value = valueOf(file);
    return value == null ? '–' : write(value);
  },
  isNumber: true,
});

const fileColumns = ({ href }: ViewContext): readonly Column<ShownFile>[] => [
  { title: 'File', cell: ({ file }) => file, isLong: true },
  { title: 'State', cell: ({ state }) => state },
  { title: 'Since', cell: ({ at }) => (at === undefined ? '–' : aged(at)) },
  numberColumn('Rows', ({ rows }) => rows),
  numberColumn('Rejects', ({ rejected }) => rejected),
  numberColumn('Records', ({ records }) => records),
  numberColumn('Size', ({ bytes }) => bytes, formatBytes),
  {
    title: 'Run',
    cell: ({ run, isRunKept = true }) =>
      isRunKept && run !== undefined ? html`<a href="${href(`/runs/${run}`)}">${run}</a>` : (run ?? '–'),
    isNumber: true,
  },
];

const shownLoaded = (file: LoadedFile): ShownFile => ({
  ...file,
  state: stateOf(file),
  at: file.publishedAt,
});

const shownHeld = (held: ListedHeld, { href }: ViewContext): ShownFile => ({
  file: held.file,
  state: html`${heldState(held)} ${codeLink(held.code, href)}`,
  at: held.heldAt,
});

/** Returns files of the table that are not in production yet. */
const comingFiles = async (
  context: ViewContext,
  { pipeline, table: name }: TableName,
  containing: string,
): Promise<readonly ShownFile[]> => {
  const { client } = context;
  const held = await listHeld(client, { pipeline, limit: filesOfPage });
  const wanted = { pipeline, table: name, containing, limit: filesOfPage };
  return [
    ...held
      .filter((one) => one.table === name && one.file.includes(containing))
      .map((one) => shownHeld(one, context)),
    ...(await loadingFiles(client, wanted)).map((one) => ({ ...one, state: badge('busy', 'loading') })),
  ];
};

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
  const loaded = files.slice(0, filesOfPage);
  const last = loaded.at(-1);
  const isFirst = query.get('after') === null;
  const coming = isFirst ? await comingFiles(context, chosen, containing) : [];
  const shown = [...coming, ...loaded.map(shownLoaded)];
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
      ${table(fileColumns(context), shown, { caption: 'Files', none: 'No such files.' })}
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
    title: 'Files',
    place: 'files',
    freshMs: calmMs,
    sections: [
      ...(chosen === undefined ? [] : [await filesOf(context, chosen)]),
      ...(await heldSections(context, chosen?.pipeline ?? query.get('pipeline') ?? undefined)),
      tableSection('tables', 'Tables with files in production', tableColumns(context), tables, none),
    ],
  };
};
