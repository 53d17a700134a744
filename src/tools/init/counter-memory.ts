// Layout of the memory of the field counter (counter-code.ts). Numbers are addresses in bytes.

import { groupBytes } from '../../format/wasm-instance.ts';

/** Most bytes of the records that are in this memory at a time. */
const windowBytes = 64 * 1024;

/** Addresses of the routine's state; i32 unless noted. */
export const state = {
  next: 0,
  listEnd: 4,
  newEnd: 8,
  columnsEnd: 12,
  /** i64: a hash shifted right by this number of bits is the index of its set. */
  shift: 16,
  emptyLow: 24,
  emptyHigh: 28,
  /** 1: the routine ended at a record with another number of fields. */
  isOdd: 32,
};

/** Table of 256 bytes: one of the values of `first` for each first byte of a field. */
export const firstBytesAt = 256;
export const first = { ofText: 0, quote: 1, other: 2 };

export const textAt = 1024;
export const startsAt = textAt + windowBytes + groupBytes;
export const endsAt = startsAt + 4 * windowBytes;
/** Room for a delimiter at every byte, and for a sentinel after the last delimiter. */
export const delimitersAt = endsAt + 4 * windowBytes;
export const newAt = delimitersAt + 4 * windowBytes + 64;

/** Layout of a text that is in no slot. `setAt` is 0 if the field is too long for a slot. */
export const newText = { column: 0, record: 4, from: 8, to: 12, setAt: 16, key: 24, bytes: 40 };

export const newAtOnce = 16;
/** Most new texts of a window: each has at least one byte and a delimiter. */
const newMax = newAtOnce + windowBytes / 2;

/** Lists of the lower and higher halves of hashes, for each column of a candidate key. */
export const hashesAt = newAt + newText.bytes * newMax;
export const hashListBytes = 4 * windowBytes;
const hashColumnsMax = 8;

export const columnLayout = { slotsAt: 0, countersAt: 4, isText: 8, hashesAt: 12, bytes: 16 };
export const columnsAt = hashesAt + 2 * hashListBytes * hashColumnsMax;

/** Counters per column in this memory. A text without a counter is listed as new each time. */
export const countersMax = 256;

/** A slot has a text of up to 16 bytes, the address of its counter, and its hash. */
export const slot = { low: 0, high: 8, counter: 16, hashLow: 24, hashHigh: 28, bytes: 32 };
export const setBytes = 2 * slot.bytes;
export const slotTextMax = 16;
