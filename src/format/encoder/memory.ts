// Memory map of the row routine (WebAssembly).

import { wordBytes } from '../../core/shared-copy.ts';
import { groupBytes } from '../wasm-instance.ts';

/** Most bytes of records in memory at once: few enough for the processor's L2 cache. */
export const windowBytes = 64 * 1024;
const outBytes = 8 * windowBytes;

/** Code that reads or copies 16 bytes at a time goes beyond an end by less than this. */
export const overrun = 16;

/** Addresses of i32 values. JavaScript sets `between` and the values after it. */
export const state = {
  /** Address of the first entry in the list of delimiters that is not before the next record. */
  next: 0,
  listEnd: 4,
  out: 8,
  copied: 12,
  filtered: 16,
  reason: 20,
  between: 24,
  rowRoom: 28,
  perByte: 32,
  slotsAt: 36,
  slotsEnd: 40,
  columnsAt: 44,
  columnsEnd: 48,
  /** Number of columns, as the first two bytes of a row. */
  rowHead: 52,
  trim: 56,
  filter: 60,
  delimiter: 64,
  quote: 68,
  /** Unlike `trim`, does not trim inside quotes. */
  trimOutside: 72,
  delimiterAt: 76,
  delimiterBytes: 80,
  isTextFormat: 84,
  isCut: 88,
  lineAt: 92,
  blockLine: 96,
};

export const wanted = { no: 0, yes: 1, unsure: 2 };

export const stopped = { atEnd: 0, unsure: 1, full: 2 };

export const mantissaAt = 128;
export const exponentAt = mantissaAt + 8;
/** 10^0 to 10^15 as f64, then as i64. */
export const powersAt = exponentAt + 8;
export const wholePowersAt = powersAt + 16 * 8;
export const monthDaysAt = wholePowersAt + 16 * 8;
/** Each month is an i32: three lower-case letters, the first letter in the lowest byte. */
export const monthNamesAt = monthDaysAt + 16;
export const partsAt = monthNamesAt + 12 * 4;
/** The records begin here or up to one word later. The bytes before them are 0, not quotes. */
export const textAt = 1024;
export const startsAt = textAt + wordBytes + windowBytes + groupBytes;
export const endsAt = startsAt + 4 * windowBytes;
/** Line of each record, counted from the block's line. */
export const linesAt = endsAt + 4 * windowBytes;
/** One delimiter per byte is possible. A number larger than all addresses ends the list. */
export const delimitersAt = linesAt + 4 * windowBytes;
export const outAt = delimitersAt + 4 * windowBytes + 64;
export const outEnd = outAt + outBytes;
/** Fields are joined here. JavaScript reads records with a longer value. */
export const glueAt = outEnd + 64;
export const glueBytes = 4096;
export const numberBytesMax = 128;
export const plainAt = glueAt + glueBytes + 64;
export const digitsAt = plainAt + numberBytesMax + 64;
/** The highest 128 bits of 5^q, for each power of ten q that a double may have. */
export const fivesAt = digitsAt + numberBytesMax + 64;
export const fives = { least: -342, most: 308 };
export const five = { high: 0, low: 8, bytes: 16 };
export const planAt = fivesAt + five.bytes * (fives.most - fives.least + 1) + 64;
