// The chunk map: a bar per file, and in it a rectangle per chunk, coloured by state, by worker, or
// by epoch (the number of server crashes before the chunk was loaded).

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

interface ColouredMap extends ChunkMap {
  readonly by: Colouring;
  readonly sessions: readonly number[];
  /** The run's crash epoch. Chunks of other epochs were lost in a crash. */
  readonly epoch: string;
  /** Number of crashes before the run's epoch. */
  readonly crashes: number;
}

/** Number of colours; with more workers or epochs, the colours repeat. */
const coloursMax = 8;
const numbered = (number: number): string => `w${number % coloursMax}`;

const width = 1000;
const barHeight = 18;

const stateWords = {
  loaded: 'loaded',
  reloaded: 'lost in a crash, loaded again',
  lost: 'lost in a crash',
} as const;

/** Numbers workers from 1; undefined if a crash deleted all chunks of the worker's session. */
const workerOf = ({ session }: ChunkCell, { sessions }: ColouredMap): number | undefined =>
  sessions.includes(session) ? sessions.indexOf(session) + 1 : undefined;

/**
 * Returns, for each epoch, the number of server crashes before it. Only the number of the run's
 * epoch is known; earlier epochs count down from it.
 */
const epochsOf = ({ cells, epoch, crashes }: ColouredMap): ReadonlyMap<string, number> => {
  const begun = new Map<string, number>();
  for (const { epoch: one, committedAt } of cells)
    begun.set(one, Math.min(begun.get(one) ?? Infinity, committedAt.getTime()));
  begun.delete(epoch);
  const earlier = [...begun].sort(([, one], [, other]) => one - other).map(([one]) => one);
  const numbers = earlier.map((one, index) => [one, Math.max(0, crashes - earlier.length + index)] as const);
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
  return `${chunks} at byte ${formatCount(cell.start)}: ${plural(cell.records, 'record')}${rejects}, ${stateWords[cell.state]}${by}, ${cell.committedAt.toISOString().slice(11, 19)} UTC`;
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
  const span = { x: cell.start * scale, width: room > 6 ? room - 1 : room };
  const colour = colourOf(cell, map, epochs);
  const rect: Rect = { ...span, colour, y: 0, height: barHeight, title: wordsOf(cell, map) };
  if (map.by === 'state' || cell.state === 'loaded') return [rect];
  return [rect, { ...span, colour: cell.state, y: barHeight - 4, height: 4 }];
};

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
  return sessions.slice(0, coloursMax).map((_, index) => [numbered(index), `worker ${index + 1}`]);
};

/** `linkTo`: page with another colouring. `pages`: links to further files. */
export const chunkMap = (map: ColouredMap, linkTo: (by: Colouring) => string, pages: Html): Html => {
  if (map.files.length === 0)
    return html`<p class="none">There are no further files.</p>
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
