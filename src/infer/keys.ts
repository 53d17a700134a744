// Which columns identify a record: candidates are found in the first records, and proved over all others, as far as memory allows.
//
// Texts are compared by 53 bits of their hash. Equal hashes of different texts only lose a key; a key that is proposed has no two
// equal texts.

import { SPACE, TAB } from '../format/split/grammar.ts';

/** Fields of the first records whose hashes are kept. */
const fieldsKeptMax = 500_000;
const recordsKeptMax = 10_000;

/** Records of which a set of columns is proved to be a key; their hashes are 64 MiB. */
export const provedMax = 5_500_000;

/** Most columns of a key, and among how many of the first ones it is looked for. */
const keyColumnsMax = 3;
const consideredMax = [16, 10, 8] as const;

/** Sets of columns that are followed at once, while they are few enough for memory. */
const followedMax = 3;

const two21 = 2 ** 21;

/** A number of 53 bits for the bytes, without blanks around them. */
export const hashBytes = (bytes: Uint8Array, start: number, end: number): number => {
  let from = start;
  let to = end;
  while (from < to && (bytes[from] === SPACE || bytes[from] === TAB)) from += 1;
  while (to > from && (bytes[to - 1] === SPACE || bytes[to - 1] === TAB)) to -= 1;
  let one = 0x811c9dc5;
  let other = to - from;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at]!;
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul(other ^ byte, 0x5bd1e995) ^ (other >>> 15);
  }
  one ^= one >>> 16;
  other = Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  return (one >>> 0) * two21 + ((other >>> 0) & (two21 - 1));
};

/** One number for several. */
export const joinHashes = (left: number, right: number): number => {
  const low = Math.imul((left % 0x1_0000_0000) | 0, 0x9e3779b1) ^ ((right % 0x1_0000_0000) | 0);
  const high = Math.imul((left / two21) | 0, 0x85ebca6b) ^ ((right / two21) | 0);
  const mixed = Math.imul(low ^ (low >>> 15) ^ high, 0xc2b2ae35);
  return (
    ((mixed ^ (mixed >>> 13)) >>> 0) * two21 + (((Math.imul(high, 0x27d4eb2f) ^ low) >>> 0) & (two21 - 1))
  );
};

/** A set of numbers that doubles its memory. */
interface HashSet {
  slots: Float64Array;
  size: number;
}

const createHashSet = (): HashSet => ({ slots: new Float64Array(1 << 14), size: 0 });

const placeOf = (slots: Float64Array, hash: number): number => {
  const mask = slots.length - 1;
  let place = (hash / two21) & mask;
  while (slots[place] !== 0 && slots[place] !== hash) place = (place + 1) & mask;
  return place;
};

/** Adds a number; false when it is there. */
const add = (set: HashSet, hash: number): boolean => {
  // Zero is an empty slot.
  const value = hash === 0 ? 1 : hash;
  const place = placeOf(set.slots, value);
  if (set.slots[place] === value) return false;
  set.slots[place] = value;
  set.size += 1;
  if (set.size > set.slots.length * 0.7) {
    const larger = new Float64Array(2 * set.slots.length);
    for (const old of set.slots) if (old !== 0) larger[placeOf(larger, old)] = old;
    set.slots = larger;
  }
  return true;
};

/** Columns that have identified every record so far. */
interface Followed {
  readonly columns: readonly number[];
  readonly set: HashSet;
}

export interface KeySearch {
  /** Hashes of the fields of the first records, record after record. */
  readonly first: number[];
  readonly width: number;
  readonly room: number;
  records: number;
  /** Undefined: the first records are still being gathered. */
  followed: Followed[] | undefined;
  /** There were more records than memory allows. */
  isLost: boolean;
}

export const createKeySearch = (width: number): KeySearch => ({
  first: [],
  width,
  room: Math.min(recordsKeptMax, Math.max(1, Math.floor(fieldsKeptMax / width))),
  records: 0,
  followed: undefined,
  isLost: false,
});

/** Whether records have to be hashed whole: the first ones. */
export const isGathering = ({ followed }: KeySearch): boolean => followed === undefined;

function* combinations(places: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) yield [];
  else
    for (const [index, place] of places.entries())
      for (const rest of combinations(places.slice(index + 1), size - 1)) yield [place, ...rest];
}

const keyOf = (first: readonly number[], base: number, columns: readonly number[]): number => {
  let hash = first[base + columns[0]!]!;
  for (let index = 1; index < columns.length; index += 1)
    hash = joinHashes(hash, first[base + columns[index]!]!);
  return hash;
};

/** The columns as a key of the first records; undefined when two of them are equal. */
const followedOf = ({ first, width }: KeySearch, columns: readonly number[]): Followed | undefined => {
  const set = createHashSet();
  for (let base = 0; base < first.length; base += width)
    if (!add(set, keyOf(first, base, columns))) return undefined;
  return { columns, set };
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
  search.first.length = 0;
};

/** Takes the hashes of a record's fields; returns whether enough were gathered. */
export const gather = (search: KeySearch, hashes: readonly number[]): boolean => {
  for (const hash of hashes) search.first.push(hash);
  search.records += 1;
  return search.records >= search.room;
};

/** Takes a further record: `hashOf` gives the hash of a column's field. */
export const follow = (search: KeySearch, hashOf: (column: number) => number): void => {
  const followed = search.followed!;
  search.records += 1;
  if (search.records > provedMax / followed.length) {
    if (followed.length === 1) {
      search.isLost = true;
      search.followed = [];
      return;
    }
    followed.pop();
  }
  for (let index = followed.length - 1; index >= 0; index -= 1) {
    const { columns, set } = followed[index]!;
    let hash = hashOf(columns[0]!);
    for (let place = 1; place < columns.length; place += 1) hash = joinHashes(hash, hashOf(columns[place]!));
    if (!add(set, hash)) followed.splice(index, 1);
  }
};
