// Searches for a primary key. The first records give candidates; all other records must confirm
// them, as far as memory allows. Texts are compared by hashes of 64 bits: equal hashes of different
// texts can hide a key, but a key that is found is certain.

import { isBlankByte } from '../../format/records/grammar.ts';
import { createHashList, hasEqual, makeRoom, type HashList } from './hash-list.ts';

/** Number of fields and records whose hashes are kept to find candidates. */
const fieldsKeptMax = 500_000;
const recordsKeptMax = 10_000;

/** Most hashes of all candidates: they need 64 MiB. */
const provedMax = 5_500_000;

const keyColumnsMax = 3;
const consideredMax = [16, 10, 8] as const;

const followedMax = 2;

export interface Hashes {
  readonly low: Int32Array;
  readonly high: Int32Array;
}

export const createHashes = (length: number): Hashes => ({
  low: new Int32Array(length),
  high: new Int32Array(length),
});

/** Hashes bytes [start, end), without blanks at both ends. */
export const hashBytes = (
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Hashes,
  index: number,
): void => {
  let from = start;
  let to = end;
  while (from < to && isBlankByte(bytes[from])) from += 1;
  while (to > from && isBlankByte(bytes[to - 1])) to -= 1;
  let low = 0x811c9dc5;
  let high = to - from;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at]!;
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x5bd1e995) ^ (high >>> 15);
  }
  into.low[index] = low ^ (low >>> 15);
  into.high[index] = high ^ (high >>> 13);
};

/** A candidate: columns that identified every record up to the last comparison. */
interface Followed {
  readonly columns: readonly number[];
  readonly hashes: HashList;
  next: number;
}

const growth = 4;

export interface KeySearch {
  /** Hashes of the fields of the first records, record by record. */
  first: Hashes | undefined;
  readonly width: number;
  readonly room: number;
  records: number;
  /** The candidates; undefined while the first records are collected. */
  followed: Followed[] | undefined;
  /** True if the search was given up, because memory cannot hold so many hashes. */
  isLost: boolean;
}

export const createKeySearch = (width: number): KeySearch => {
  const room = Math.min(recordsKeptMax, Math.max(1, Math.floor(fieldsKeptMax / width)));
  return {
    first: createHashes(room * width),
    width,
    room,
    records: 0,
    followed: undefined,
    isLost: false,
  };
};

export const isGathering = ({ followed }: KeySearch): boolean => followed === undefined;

function* combinations(columns: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) yield [];
  else
    for (const [index, column] of columns.entries())
      for (const rest of combinations(columns.slice(index + 1), size - 1)) yield [column, ...rest];
}

/** Hashes of a column. Record 0 is at index `first`, each further record `step` later. */
interface Hashed extends Hashes {
  readonly first: number;
  readonly step: number;
}

const appendRecords = (hashes: HashList, columns: readonly Hashed[], from: number, to: number): void => {
  makeRoom(hashes, to - from);
  const { low: lows, high: highs, size } = hashes;
  hashes.size += to - from;
  for (const { low: ownLow, high: ownHigh, first, step } of columns)
    for (let at = size, index = first + from * step; at < hashes.size; at += 1, index += step) {
      const high = highs[at]!;
      const low = Math.imul(lows[at]! ^ ownLow[index]!, 0x85ebca6b) ^ (high >>> 11);
      lows[at] = low;
      highs[at] = Math.imul(high ^ ownHigh[index]!, 0xc2b2ae35) ^ (low >>> 13);
    }
};

const followedOf = (
  { first, width, records }: KeySearch,
  columns: readonly number[],
): Followed | undefined => {
  const hashes = createHashList();
  const hashed = columns.map((column) => ({ ...first!, first: column, step: width }));
  // Compared in growing steps, because most sets of columns have two equal records early.
  for (let from = 0; from < records;) {
    const to = Math.min(records, Math.max(64, from * growth));
    appendRecords(hashes, hashed, from, to);
    if (hasEqual(hashes)) return undefined;
    from = to;
  }
  return { columns, hashes, next: growth * records };
};

/**
 * Chooses the candidates: the smallest sets of columns that identify the first records. No
 * candidate contains another one.
 *
 * @param eligible columns that can be in a key, in order of preference
 */
export const followKeys = (search: KeySearch, eligible: readonly number[]): void => {
  const followed: Followed[] = [];
  for (let size = 1; size <= keyColumnsMax && followed.length < followedMax; size += 1)
    for (const columns of combinations(eligible.slice(0, consideredMax[size - 1]), size)) {
      if (followed.length === followedMax) break;
      if (followed.some((other) => other.columns.every((column) => columns.includes(column)))) continue;
      const found = followedOf(search, columns);
      if (found !== undefined) followed.push(found);
    }
  search.followed = followed;
  search.first = undefined;
};

export const gather = (
  search: KeySearch,
  columns: readonly number[],
  hash: (column: number, into: Hashes, index: number) => void,
): boolean => {
  const { first, width } = search;
  for (const column of columns) hash(column, first!, search.records * width + column);
  search.records += 1;
  return search.records < search.room;
};

export const columnsFollowed = ({ followed = [] }: KeySearch): readonly number[] => [
  ...new Set(followed.flatMap(({ columns }) => columns)),
];

export const follow = (
  search: KeySearch,
  hashesOf: (column: number) => Hashes,
  from: number,
  to: number,
): void => {
  const followed = search.followed!;
  search.records += to - from;
  while (followed.length > 0 && search.records * followed.length > provedMax) {
    search.isLost = followed.length === 1;
    followed.pop();
  }
  for (let index = followed.length - 1; index >= 0; index -= 1) {
    const one = followed[index]!;
    const hashed = one.columns.map((column) => ({ ...hashesOf(column), first: 0, step: 1 }));
    appendRecords(one.hashes, hashed, from, to);
    if (search.records < one.next) continue;
    one.next = growth * search.records;
    if (hasEqual(one.hashes)) followed.splice(index, 1);
  }
};

export const keysFound = ({ followed = [] }: KeySearch): readonly (readonly number[])[] =>
  followed.filter(({ hashes }) => !hasEqual(hashes)).map(({ columns }) => columns);
