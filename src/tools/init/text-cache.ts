// A hash table of a column's texts, as bytes, each with a number.

/** Longer texts are seldom repeated. */
const textBytesMax = 40;

/** Texts of up to eight bytes are two words of a slot. For longer texts, the words are a hash. */
export const wordsBytes = 8;
const slot = { low: 0, high: 1, length: 2, number: 3, words: 4 };

export interface TextCache {
  readonly slots: Int32Array;
  /** Texts of more than eight bytes, by slot. */
  readonly long: Uint8Array;
  readonly shift: number;
  used: number;
  /** Both words of the text looked up last, and the index of its slot, or of a free slot. */
  low: number;
  high: number;
  at: number;
}

/** Creates a cache with 2^bits slots. */
export const createTextCache = (bits: number): TextCache => ({
  slots: new Int32Array(slot.words << bits),
  long: new Uint8Array(textBytesMax << bits),
  shift: 32 - bits,
  used: 0,
  low: 0,
  high: 0,
  at: 0,
});

const masks = (firstBit: number): Int32Array =>
  Int32Array.from({ length: wordsBytes + 1 }, (_, length) => {
    const bits = Math.min(32, Math.max(0, 8 * length - firstBit));
    return 2 ** bits - 1;
  });
const lowMasks = masks(0);
const highMasks = masks(32);

const hashLong = (cache: TextCache, view: DataView, from: number, to: number): void => {
  let low = to - from;
  let high = low;
  for (let at = from; at < to; at += 1) {
    low = Math.imul(low ^ view.getUint8(at), 0x01000193);
    high = Math.imul(high, 0x5bd1e995) ^ low;
  }
  cache.low = low;
  cache.high = high;
};

const isSame = ({ long }: TextCache, at: number, view: DataView, from: number, length: number): boolean => {
  const longAt = (at / slot.words) * textBytesMax;
  for (let index = 0; index < length; index += 1)
    if (long[longAt + index] !== view.getUint8(from + index)) return false;
  return true;
};

/** Returns the text's number, or 0. Reads up to eight bytes beyond the text. */
export const findText = (cache: TextCache, view: DataView, from: number, to: number): number => {
  const length = to - from;
  const isShort = length <= wordsBytes;
  if (isShort) {
    cache.low = view.getInt32(from, true) & lowMasks[length]!;
    cache.high = view.getInt32(from + 4, true) & highMasks[length]!;
  } else if (length > textBytesMax) return 0;
  else hashLong(cache, view, from, to);
  const { slots, low, high } = cache;
  const last = slots.length - 1;
  let at = (Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> cache.shift) * slot.words;
  for (; slots[at + slot.length] !== 0; at = (at + slot.words) & last)
    if (
      slots[at] === low &&
      slots[at + slot.high] === high &&
      slots[at + slot.length] === length &&
      (isShort || isSame(cache, at, view, from, length))
    )
      return slots[at + slot.number]!;
  cache.at = at;
  return 0;
};

/** Adds the text looked up last, which was not found. */
export const addText = (
  cache: TextCache,
  bytes: Uint8Array,
  from: number,
  to: number,
  number: number,
): void => {
  const { slots, long, low, high, at } = cache;
  const length = to - from;
  if (length > textBytesMax) return;
  if (2 * slot.words * cache.used > slots.length) {
    slots.fill(0);
    cache.used = 0;
    return;
  }
  slots[at] = low;
  slots[at + slot.high] = high;
  slots[at + slot.length] = length;
  slots[at + slot.number] = number;
  if (length > wordsBytes) long.set(bytes.subarray(from, to), (at / slot.words) * textBytesMax);
  cache.used += 1;
};
