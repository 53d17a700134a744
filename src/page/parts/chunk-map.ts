// The chunk map: a bar a file, a rectangle a chunk, coloured by what became of it, by who loaded it, or by its time.

import { formatBytes } from '../../amounts.ts';
import type { ChunkCell, ChunkMap, MappedFile } from '../../history/chunk-map.ts';
import { formatCount, plural } from '../../wording.ts';
import { share } from './amount.ts';
import { html, nothing, seen, type Html } from './html.ts';
import { numbersOf, type Column } from './table.ts';

export const colourings = ['state', 'worker'] as const;
export type Colouring = (typeof colourings)[number];

/** Colours that can be told apart; further workers begin again. */
const workerColours = 8;

const width = 1000;
const barHeight = 18;

const stateWords = {
  loaded: 'loaded',
  reloaded: 'lost in a crash, loaded again',
  lost: 'lost in a crash',
} as const;

const workerOf = ({ session }: ChunkCell, sessions: readonly number[]): number | undefined =>
  session === null ? undefined : sessions.indexOf(session) + 1;

const wordsOf = (cell: ChunkCell, sessions: readonly number[]): string => {
  const worker = workerOf(cell, sessions);
  const chunks = cell.chunks === 1 ? 'chunk' : plural(cell.chunks, 'chunk');
  const by = worker === undefined ? '' : `, worker ${worker}`;
  const rejects = cell.rejected === 0 ? '' : `, ${plural(cell.rejected, 'reject')}`;
  return `${chunks} at byte ${formatCount(cell.start)}: ${plural(cell.records, 'record')}${rejects}, ${stateWords[cell.state]}${by}, ${cell.committedAt.toTimeString().slice(0, 8)}`;
};

const cellOf = (cell: ChunkCell, { bytes }: MappedFile, { sessions }: ChunkMap, by: Colouring): Html => {
  const scale = width / Math.max(1, bytes);
  const x = cell.start * scale;
  const wide = Math.max(1.5, (cell.end - cell.start) * scale);
  const worker = workerOf(cell, sessions);
  const colour =
    by === 'state' ? cell.state : worker === undefined ? 'loaded' : `w${(worker - 1) % workerColours}`;
  // A gap between neighbours, where there is room for one.
  const gap = wide > 6 ? 1 : 0;
  return html`<rect
      class="${colour}"
      x="${x.toFixed(1)}"
      y="0"
      width="${(wide - gap).toFixed(1)}"
      height="${barHeight}"
      ><title>${wordsOf(cell, sessions)}</title></rect
    >${
      cell.state !== 'loaded' && by !== 'state'
        ? html`<rect
            class="${cell.state}"
            x="${x.toFixed(1)}"
            y="${barHeight - 4}"
            width="${(wide - gap).toFixed(1)}"
            height="4"
          ></rect>`
        : nothing
    }`;
};

/** How much of the data is loaded. */
const loadedShare = ({ loadedBytes, bytes, dataByte }: MappedFile): string =>
  share(loadedBytes, bytes - dataByte);

const summaryOf = (mapped: MappedFile): string => {
  const { file, bytes, chunks, lost, reloaded } = mapped;
  return [
    `${seen(file)}: ${loadedShare(mapped)} of ${formatBytes(bytes)} in ${plural(chunks, 'chunk')}`,
    ...(lost > 0 ? [`${formatCount(lost)} lost`] : []),
    ...(reloaded > 0 ? [`${formatCount(reloaded)} loaded again`] : []),
  ].join(', ');
};

const bar = (file: MappedFile, map: ChunkMap, by: Colouring): Html => {
  const cells = map.cells.filter(({ fileId }) => fileId === file.id);
  return html`<div class="bar">
    <span class="bar-name"><span class="dim">${seen(file.table)}</span> ${seen(file.file)}</span>
    <svg
      role="img"
      aria-label="${summaryOf(file)}"
      viewBox="0 0 ${width} ${barHeight}"
      preserveAspectRatio="none"
    >
      <rect class="open" width="${width}" height="${barHeight}"></rect>
      ${cells.map((cell) => cellOf(cell, file, map, by))}
    </svg>
    <span class="bar-share">${loadedShare(file)}</span>
  </div>`;
};

const fileColumns: readonly Column<MappedFile>[] = [
  { title: 'File', cell: ({ file }) => seen(file), isLong: true },
  { title: 'Table', cell: ({ table }) => seen(table) },
  { title: 'Bytes of data', cell: ({ bytes }) => formatCount(bytes), isNumber: true },
  { title: 'Loaded', cell: loadedShare, isNumber: true },
  { title: 'Chunks', cell: ({ chunks }) => formatCount(chunks), isNumber: true },
  { title: 'Lost', cell: ({ lost }) => formatCount(lost), isNumber: true },
  { title: 'Loaded again', cell: ({ reloaded }) => formatCount(reloaded), isNumber: true },
  { title: 'Records', cell: ({ records }) => formatCount(records), isNumber: true },
];

const legend = (map: ChunkMap, by: Colouring): Html => {
  const entries =
    by === 'state'
      ? ([
          ['loaded', 'loaded'],
          ['reloaded', 'lost in a crash, loaded again'],
          ['lost', 'lost, not loaded again yet'],
          ['open', 'not loaded'],
        ] as const)
      : map.sessions.slice(0, workerColours).map((_, place) => [`w${place}`, `worker ${place + 1}`] as const);
  return html`<ul class="legend">
    ${entries.map(
      ([colour, text]) =>
        html`<li>
          <svg width="12" height="12" aria-hidden="true">
            <rect class="${colour}" width="12" height="12"></rect></svg
          >${text}
        </li>`,
    )}
  </ul>`;
};

/** `linkTo`: the address of this page with the map coloured in another way. */
export const chunkMap = (map: ChunkMap, by: Colouring, linkTo: (by: Colouring) => string): Html => {
  if (map.files.length === 0) return html`<p class="none">This run has no files.</p>`;
  const choices = colourings.map(
    (choice) => html`<a href="${linkTo(choice)}" class="${choice === by ? 'chosen' : ''}">${choice}</a>`,
  );
  const more = map.filesTotal - map.files.length;
  return html`<div class="map-head">
      ${legend(map, by)}
      <p class="choice">Colour by ${choices}</p>
    </div>
    <div class="map">${map.files.map((file) => bar(file, map, by))}</div>
    ${more > 0 ? html`<p class="dim">${plural(map.files.length, 'file')} of ${formatCount(map.filesTotal)}.</p>` : nothing}
    ${numbersOf('map-numbers', fileColumns, map.files, 'Chunks of each file')}`;
};
