// Addresses in the memory of the tally: records and the list of their delimiters in, counters and new texts out.

import { groupBytes } from '../../../format/wasm/instance.ts';

/** Bytes of whole records that are in the memory at once: as many as `windowsOf` gives. */
const windowBytes = 64 * 1024;

/** State of the routine, as addresses of i32. */
export const state = {
  /** Address in the list of the first delimiter that is not before the next record. */
  next: 0,
  /** Address after the last delimiter. */
  listEnd: 4,
  /** Address after the last new text. */
  newEnd: 8,
  columnsEnd: 12,
  /** i64: by how much a hash is shifted to give its set. */
  shift: 16,
  /** The two halves of the hash of an empty field. */
  emptyLow: 24,
  emptyHigh: 28,
  /** 1: the routine ended at a record with another number of fields. */
  isOdd: 32,
};

/** A byte for each byte with which a field may begin: one of `first`. */
export const firstBytesAt = 256;
export const first = { ofText: 0, quote: 1, other: 2 };

export const textAt = 1024;
export const startsAt = textAt + windowBytes + groupBytes;
export const endsAt = startsAt + 4 * windowBytes;
/** Every byte may be a delimiter; one that is beyond them all follows the last. */
export const delimitersAt = endsAt + 4 * windowBytes;
export const newAt = delimitersAt + 4 * windowBytes + 64;

/** A field whose text is in no slot; `setAt` is 0 when it is too long for one. */
export const newText = { column: 0, record: 4, from: 8, to: 12, setAt: 16, key: 24, bytes: 40 };

/** So many of them end the routine after their record. */
export const newAtOnce = 16;
/** A record has fewer: each has one byte at least, and another follows it. */
const newMax = newAtOnce + windowBytes / 2;

/** Hashes of the window's records, for each column that may be in a key: the lower halves, and the higher ones. */
export const hashesAt = newAt + newText.bytes * newMax;
export const hashListBytes = 4 * windowBytes;
const hashColumnsMax = 8;

/** What a column needs; `hashesAt` is 0 where nobody asks for hashes. */
export const columnLayout = { slotsAt: 0, countersAt: 4, isText: 8, hashesAt: 12, bytes: 16 };
export const columnsAt = hashesAt + 2 * hashListBytes * hashColumnsMax;

/** Counters of a column that the routine knows; a text with another one is new each time. */
export const countersMax = 256;

/** A text of up to sixteen bytes with its counter and its hash. Two of them are a set: a text is in one of both. */
export const slot = { low: 0, high: 8, counter: 16, hashLow: 24, hashHigh: 28, bytes: 32 };
export const setBytes = 2 * slot.bytes;
export const slotTextMax = 16;
