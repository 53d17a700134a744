// Addresses in the memory of the row routine: its state, text and records in, rows out, and the plan of the table.

import { wordBytes } from '../../core/shared-copy.ts';
import { groupBytes } from '../wasm/instance.ts';

/** Bytes of whole records that are in the memory at once: few enough for the processor's nearer caches. */
export const windowBytes = 64 * 1024;
const outBytes = 8 * windowBytes;

/** Reads and copies of sixteen bytes at once go beyond an end by fewer bytes than this. */
export const overrun = 16;

/** State of the routine, as addresses of i32. What is above `copied` is kept from call to call. */
export const state = {
  /** Address in the list of the first delimiter that is not before the next record. */
  next: 0,
  /** Address after the last delimiter. */
  listEnd: 4,
  /** Address after the last row. */
  out: 8,
  copied: 12,
  filtered: 16,
  /** Why the routine returned: one of `stopped`. */
  reason: 20,
  /** 4 x delimiters of a record. */
  between: 24,
  /** These two as in RowPlan. */
  rowRoom: 28,
  perByte: 32,
  slotsAt: 36,
  slotsEnd: 40,
  columnsAt: 44,
  columnsEnd: 48,
  /** Number of columns, as the row's first two bytes. */
  rowHead: 52,
  /** 0 or 1. */
  trim: 56,
  filter: 60,
  /** The first byte. */
  delimiter: 64,
  /** -1: the block holds none. */
  quote: 68,
  /** 0 or 1, like `trim`, which also looks within quotes. */
  trimOutside: 72,
  delimiterAt: 76,
  delimiterBytes: 80,
  /** 1: rows are of COPY's text format. */
  isTextFormat: 84,
  /** 1: fields beyond those of the header are left out. */
  isCut: 88,
  /** Address of a token whose value is the line of the current record; 0: no column has it. */
  lineAt: 92,
  /** i64: the line of the block's first byte. */
  blockLine: 96,
};

/** What the host says of a record. */
export const wanted = { no: 0, yes: 1, unsure: 2 };

export const stopped = { atEnd: 0, unsure: 1, full: 2 };

/** What `scanFloat` found: an i64, and an i32. */
export const mantissaAt = 128;
export const exponentAt = mantissaAt + 8;
/** f64: 10^0 … 10^15, and the same as i64. */
export const powersAt = exponentAt + 8;
export const wholePowersAt = powersAt + 16 * 8;
/** A byte for each month. */
export const monthDaysAt = wholePowersAt + 16 * 8;
/** i32 for each month: the three lower-case letters of its name, the first one lowest. */
export const monthNamesAt = monthDaysAt + 16;
/** What a pattern found: `part`. */
export const partsAt = monthNamesAt + 12 * 4;
/** The text begins here or within a word of it, where zeros are before it. No quote is at the byte before. */
export const textAt = 1024;
export const startsAt = textAt + wordBytes + windowBytes + groupBytes;
export const endsAt = startsAt + 4 * windowBytes;
/** Line of each record, from that of the block on. */
export const linesAt = endsAt + 4 * windowBytes;
/** Every byte may be a delimiter; one that is beyond them all follows the last. */
export const delimitersAt = linesAt + 4 * windowBytes;
export const outAt = delimitersAt + 4 * windowBytes + 64;
export const outEnd = outAt + outBytes;
/** Parts of a joined value, one after the other; a record with a longer one is left to the judge. */
export const glueAt = outEnd + 64;
export const glueBytes = 4096;
/** A number is read up to this length; longer ones are left to the host. */
export const numberBytesMax = 128;
/** A number without its separators. */
export const plainAt = glueAt + glueBytes + 64;
/** Digits of a numeric, the point between two groups of four. */
export const digitsAt = plainAt + numberBytesMax + 64;
/** The highest 128 bits of 5^q, for each power of ten that a double may have. */
export const fivesAt = digitsAt + numberBytesMax + 64;
export const fives = { least: -342, most: 308 };
export const five = { high: 0, low: 8, bytes: 16 };
/** The table's slots, columns, tokens and constants. */
export const planAt = fivesAt + five.bytes * (fives.most - fives.least + 1) + 64;
