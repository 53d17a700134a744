// Which columns identify a record: candidates are found in the first records, and proved over all others, as far as memory allows.
//
// Texts are compared by 64 bits of their hash, as two numbers. Equal hashes of different texts only lose a key; a key that is proposed
// has no two equal texts.

import { isBlankByte } from '../../../format/split/grammar.ts';
import { createHashList, hasEqual, makeRoom, type HashList } from './hash-list.ts';

/** Fields of the first records whose hashes are kept. */
const fieldsKeptMax = 500_000;
const recordsKeptMax = 10_000;

/** Records of which a set of columns is proved to be a key: their hashes are 64 MiB, and half as much while they are compared. */
const provedMax = 5_500_000;

/** Most columns of a key, and among how many of the first ones it is looked for. */
const keyColumnsMax = 3;
const consideredMax = [16, 10, 8] as const;

/** Sets of columns that are followed at once, while they are few enough for memory. */
const followedMax = 2;

/** The two halves of hashes, as many as there are records at once, or fields of the first ones. */
export interface Hashes {
  readonly low: Int32Array;
  readonly high: Int32Array;
}

export const createHashes = (length: number): Hashes => ({
  low: new Int32Array(length),
  high: new Int32Array(length),
});

/** Hashes bytes without the blanks around them. */
export const hashBytes = (
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Hashes,
  place: number,
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
  into.low[place] = low ^ (low >>> 15);
  into.high[place] = high ^ (high >>> 13);
};

/** Columns that have identified every record so far, but for those since they were last compared. */
interface Followed {
  readonly columns: readonly number[];
  readonly hashes: HashList;
  /** The records at which they are compared again. */
  next: number;
}

/** By how much the records grow between two comparisons. */
const growth = 4;

export interface KeySearch {
  /** Hashes of the fields of the first records, record after record. */
  first: Hashes | undefined;
  readonly width: number;
  readonly room: number;
  records: number;
  /** Undefined: the first records are still being gathered. */
  followed: Followed[] | undefined;
  /** There were more records than memory allows. */
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

/** Whether records have to be hashed whole: the first ones. */
export const isGathering = ({ followed }: KeySearch): boolean => followed === undefined;

function* combinations(places: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) yield [];
  else
    for (const [index, place] of places.entries())
      for (const rest of combinations(places.slice(index + 1), size - 1)) yield [place, ...rest];
}

/** Where the hashes of a column are: at `first`, and so many places further for each record. */
interface Hashed extends Hashes {
  readonly first: number;
  readonly step: number;
}

/** Appends the hashes of records [from, to). */
const appendRecords = (hashes: HashList, columns: readonly Hashed[], from: number, to: number): void => {
  makeRoom(hashes, to - from);
  const { low: lows, high: highs, size } = hashes;
  hashes.size += to - from;
  for (const { low: ownLow, high: ownHigh, first, step } of columns)
    for (let at = size, place = first + from * step; at < hashes.size; at += 1, place += step) {
      const high = highs[at]!;
      const low = Math.imul(lows[at]! ^ ownLow[place]!, 0x85ebca6b) ^ (high >>> 11);
      lows[at] = low;
      highs[at] = Math.imul(high ^ ownHigh[place]!, 0xc2b2ae35) ^ (low >>> 13);
    }
};

/** The columns as a key of the first records; undefined when two of them are equal. */
const followedOf = (
  { first, width, records }: KeySearch,
  columns: readonly number[],
): Followed | undefined => {
  const hashes = createHashList();
  const hashed = columns.map((column) => ({ ...first!, first: column, step: width }));
  // Most sets of columns have two equal records soon.
  for (let from = 0; from < records;) {
    const to = Math.min(records, Math.max(64, from * growth));
    appendRecords(hashes, hashed, from, to);
    if (hasEqual(hashes)) return undefined;
    from = to;
  }
  return { columns, hashes, next: growth * records };
};

/**
 * Ends the gathering: of the columns that may be in a key, the smallest sets are followed that identify the first records; none has
 * another one within it.
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

/**
 * Takes a record while they are gathered: `hash` puts the hash of a column's field, for each of the columns that may be in a key yet.
 * Returns whether there is room for another.
 */
export const gather = (
  search: KeySearch,
  columns: readonly number[],
  hash: (column: number, into: Hashes, place: number) => void,
): boolean => {
  const { first, width } = search;
  for (const column of columns) hash(column, first!, search.records * width + column);
  search.records += 1;
  return search.records < search.room;
};

/** Columns whose hashes are needed of further records. */
export const columnsFollowed = ({ followed = [] }: KeySearch): readonly number[] => [
  ...new Set(followed.flatMap(({ columns }) => columns)),
];

/** Takes records [from, to) by the hashes of their fields. */
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

/** The sets of columns that identify every record. */
export const keysFound = ({ followed = [] }: KeySearch): readonly (readonly number[])[] =>
  followed.filter(({ hashes }) => !hasEqual(hashes)).map(({ columns }) => columns);
