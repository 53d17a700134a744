// Where things stand in the memory of the row routine: text and records in, rows out, and what the table's columns need.

import { groupBytes } from '../simd/byte-bits.ts';

/** Bytes of whole records that are in the memory at once: few enough for the processor's nearer caches. */
export const windowBytes = 64 * 1024;
const outBytes = 8 * windowBytes;

/** A read or a copy of sixteen bytes may go so far over the end of what is meant. */
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
  /** Most bytes of a row, beside `perByte` for each byte of its record. */
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
  isText: 84,
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
export const textAt = 1024;
export const startsAt = textAt + windowBytes + groupBytes;
export const endsAt = startsAt + 4 * windowBytes;
/** Every byte may be a delimiter; one that is beyond them all follows the last. */
export const delimitersAt = endsAt + 4 * windowBytes;
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

/** A field that is wanted: 4 x its place in the record, and its position in the current one. */
export const slot = { place: 0, start: 4, end: 8, bytes: 12 };

/** A column, as offsets of i32; what is its kind's own follows: see kinds.ts. */
export const column = {
  kind: 0,
  /** Address of its slot, or of the list of its slots when it is glued. */
  slots: 4,
  parts: 8,
  /** Addresses of token lists. */
  nulls: 12,
  tokens: 16,
  /** Its place among the table's columns. */
  index: 20,
  /** 1: functions of the pipeline see its values, also those that the routine reads. */
  hasFunction: 24,
  /** Address of its `rules`, or 0. */
  rules: 28,
  own: 32,
};

/** What values must be; `least` and `most` are of i64, of f64 for decimals. */
export const rules = {
  order: 0,
  /** Address of the token list that has the value, or 0. */
  values: 4,
  /** 0 or 1. */
  hasLength: 8,
  charactersMin: 12,
  charactersMax: 16,
  least: 24,
  most: 32,
  bytes: 40,
};
/** How a value is compared with its bounds: not at all, as it is written, or by its text. */
export const order = { none: 0, whole: 1, float: 2, decimal: 3 };

/**
 * Tokens in a hash table: a bit for each length that one has (the last bit: 31 and longer), how far a hash is shifted, and its
 * slots, of which at least half are empty. A token is in the slot of its hash, or in the next one that was empty.
 */
export const tokenList = { lengths: 0, shift: 4, slots: 8, first: 12 };
/** A token, its last bytes, and what is written for it; `valueBytes` is -1: the record is refused; `length` -1: empty. */
export const token = { at: 0, length: 4, valueAt: 8, valueBytes: 12, key: 16, bytes: 24 };
/** Factor of the hash: 2^64 divided by the golden ratio. D. E. Knuth, TAOCP 3, 6.4. */
export const hashFactor = 0x9e3779b97f4a7c15n;

/** A step of a pattern: one of `reads`, what it needs, and the byte that follows, or 0 when any may. */
export const patternStep = { reads: 0, needs: 4, next: 8, bytes: 12 };
/** What a step reads, and in brackets what it needs; `end` comes after the last. */
export const reads = {
  end: 0,
  /** (the byte) */
  byte: 1,
  /** Digits (the part whose number they are): one or two, exactly two, exactly four. */
  oneOrTwo: 2,
  two: 3,
  four: 4,
  /** Year of two digits; month of three letters; AM or PM. */
  shortYear: 5,
  monthName: 6,
  half: 7,
  /** Digits after the point (how many). */
  fraction: 8,
  offset: 9,
};
/** What a pattern's parts are written as. */
export const writes = { date: 0, time: 1, timestamp: 2 };
/** The parts that a pattern finds, as offsets of i32; 0 when it has none. */
export const part = {
  year: 0,
  month: 4,
  day: 8,
  hour: 12,
  minute: 16,
  second: 20,
  /** Microseconds. */
  fraction: 24,
  /** 1: AM · 2: PM. */
  half: 28,
  /** Seconds east of UTC. */
  offset: 32,
  bytes: 40,
};
