// The chunk map: a bar per file, a rectangle per chunk, coloured by state, by the worker that loaded it, or by the crash that it was loaded after.

import { formatBytes } from '../../core/amounts.ts';
import type { ChunkCell, ChunkMap, MappedFile } from '../../ledger/history/chunk-map.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { share } from './amount.ts';
import { html, type Html } from './html.ts';
import { choiceLink } from './pages.ts';
import { legend, picture, type Rect } from './svg.ts';
import { numbersOf, type Column } from './table.ts';

export const colourings = ['state', 'worker', 'epoch'] as const;
export type Colouring = (typeof colourings)[number];

/** A map with what its colours are told by. */
export interface ColouredMap extends ChunkMap {
  readonly by: Colouring;
  /** Sessions that loaded, those that began first come first: workers, by their places. */
  readonly sessions: readonly number[];
  /** The epoch under which chunks count, and how many crashes there were before it. */
  readonly epoch: string;
  readonly crashes: number;
}

/** Colours that can be told apart; further workers and epochs begin again. */
const coloursMax = 8;
const numbered = (number: number): string => `w${number % coloursMax}`;

const width = 1000;
const barHeight = 18;

const stateWords = {
  loaded: 'loaded',
  reloaded: 'lost in a crash, loaded again',
  lost: 'lost in a crash',
} as const;

/** Number of the session, from 1; undefined: a crash emptied all of its chunks. */
const workerOf = ({ session }: ChunkCell, { sessions }: ColouredMap): number | undefined =>
  sessions.includes(session) ? sessions.indexOf(session) + 1 : undefined;

/** Epochs of the map, the earliest first, with the number of crashes before each. That of the run counts them; others are those just before. */
const epochsOf = ({ cells, epoch, crashes }: ColouredMap): ReadonlyMap<string, number> => {
  const begun = new Map<string, number>();
  for (const { epoch: one, committedAt } of cells)
    begun.set(one, Math.min(begun.get(one) ?? Infinity, committedAt.getTime()));
  begun.delete(epoch);
  const earlier = [...begun].sort(([, one], [, other]) => one - other).map(([one]) => one);
  const numbers = earlier.map((one, place) => [one, Math.max(0, crashes - earlier.length + place)] as const);
  const hasOwn = cells.some((cell) => cell.epoch === epoch);
  return new Map([...numbers, ...(hasOwn ? [[epoch, crashes] as const] : [])]);
};

const epochWords = (crashes: number): string =>
  crashes === 0 ? 'before any crash' : `after crash ${crashes}`;

const wordsOf = (cell: ChunkCell, map: ColouredMap): string => {
  const worker = workerOf(cell, map);
  const chunks = cell.chunks === 1 ? 'chunk' : plural(cell.chunks, 'chunk');
  const by = worker === undefined ? '' : `, worker ${worker}`;
  const rejects = cell.rejected === 0 ? '' : `, ${plural(cell.rejected, 'reject')}`;
  return `${chunks} at byte ${formatCount(cell.start)}: ${plural(cell.records, 'record')}${rejects}, ${stateWords[cell.state]}${by}, ${cell.committedAt.toTimeString().slice(0, 8)}`;
};

const colourOf = (cell: ChunkCell, map: ColouredMap, epochs: ReadonlyMap<string, number>): string => {
  if (map.by === 'state') return cell.state;
  if (map.by === 'epoch') return numbered(epochs.get(cell.epoch) ?? 0);
  const worker = workerOf(cell, map);
  return worker === undefined ? 'loaded' : numbered(worker - 1);
};

const rectsOf = (
  cell: ChunkCell,
  { bytes }: MappedFile,
  map: ColouredMap,
  epochs: ReadonlyMap<string, number>,
): readonly Rect[] => {
  const scale = width / Math.max(1, bytes);
  const room = Math.max(1.5, (cell.end - cell.start) * scale);
  // A gap between neighbours, where there is room for one.
  const place = { x: cell.start * scale, width: room > 6 ? room - 1 : room };
  const colour = colourOf(cell, map, epochs);
  const rect: Rect = { ...place, colour, y: 0, height: barHeight, title: wordsOf(cell, map) };
  if (map.by === 'state' || cell.state === 'loaded') return [rect];
  return [rect, { ...place, colour: cell.state, y: barHeight - 4, height: 4 }];
};

/** How much of the data is loaded. */
const loadedShare = ({ loadedBytes, bytes, dataByte }: MappedFile): string =>
  share(loadedBytes, bytes - dataByte);

const summaryOf = (mapped: MappedFile): string => {
  const { file, bytes, chunks, lost, reloaded } = mapped;
  return [
    `${file}: ${loadedShare(mapped)} of ${formatBytes(bytes)} in ${plural(chunks, 'chunk')}`,
    ...(lost > 0 ? [`${formatCount(lost)} lost`] : []),
    ...(reloaded > 0 ? [`${formatCount(reloaded)} loaded again`] : []),
  ].join(', ');
};

/** What is not loaded shows through. */
const open: Rect = { colour: 'open', x: 0, y: 0, width, height: barHeight };

const bar = (file: MappedFile, map: ColouredMap, epochs: ReadonlyMap<string, number>): Html => {
  const cells = map.cells.filter(({ fileId }) => fileId === file.id);
  return html`<div class="bar">
    <span class="bar-name"><span class="dim">${file.table}</span> ${file.file}</span>
    ${picture({ width, height: barHeight, name: summaryOf(file) }, [open, ...cells.flatMap((cell) => rectsOf(cell, file, map, epochs))])}
    <span class="bar-share">${loadedShare(file)}</span>
  </div>`;
};

const fileColumns: readonly Column<MappedFile>[] = [
  { title: 'File', cell: ({ file }) => file, isLong: true },
  { title: 'Table', cell: ({ table }) => table },
  { title: 'Bytes of data', cell: ({ bytes }) => formatCount(bytes), isNumber: true },
  { title: 'Loaded', cell: loadedShare, isNumber: true },
  { title: 'Chunks', cell: ({ chunks }) => formatCount(chunks), isNumber: true },
  { title: 'Lost', cell: ({ lost }) => formatCount(lost), isNumber: true },
  { title: 'Loaded again', cell: ({ reloaded }) => formatCount(reloaded), isNumber: true },
  { title: 'Records', cell: ({ records }) => formatCount(records), isNumber: true },
];

const stateEntries = [
  ['loaded', 'loaded'],
  ['reloaded', 'lost in a crash, loaded again'],
  ['lost', 'lost, not loaded again yet'],
  ['open', 'not loaded'],
] as const;

const entriesOf = (
  { by, sessions }: ColouredMap,
  epochs: ReadonlyMap<string, number>,
): readonly (readonly [string, string])[] => {
  if (by === 'state') return stateEntries;
  if (by === 'epoch') return [...epochs.values()].map((number) => [numbered(number), epochWords(number)]);
  return sessions.slice(0, coloursMax).map((_, place) => [numbered(place), `worker ${place + 1}`]);
};

/** `linkTo`: the address of this page with the map coloured in another way; `pages`: links to its other files. */
export const chunkMap = (map: ColouredMap, linkTo: (by: Colouring) => string, pages: Html): Html => {
  if (map.files.length === 0)
    return html`<p class="none">There are no such files.</p>
      ${pages}`;
  const choices = colourings.map((choice) => choiceLink(choice, linkTo(choice), choice === map.by));
  const epochs = epochsOf(map);
  return html`<div class="map-head">
      ${legend(entriesOf(map, epochs))}
      <p class="choice">Colour by ${choices}</p>
    </div>
    <div class="map">${map.files.map((file) => bar(file, map, epochs))}</div>
    ${pages} ${numbersOf('map-numbers', fileColumns, map.files, 'Chunks of each file')}`;
};
