// Times of day and offsets from UTC.

import { COLON, digitAt, MINUS, PLUS, POINT, ZERO } from './bytes';
import { isDigit, noPairs, threePairs } from './day';

const zerosAndColons: u64 = 0x30303a30303a3030;

/** (word `HH:mm:ss`) -> seconds since midnight, or -1. */
export function scanClock(word: u64): i32 {
  const pairs = threePairs(word ^ zerosAndColons);
  if (pairs == noPairs) return -1;
  const hour = <u32>pairs & 0xff;
  const minute = <u32>(pairs >> 24) & 0xff;
  const second = <u32>(pairs >> 48) & 0xff;
  if (hour >= 24 || minute >= 60 || second >= 60) return -1;
  return hour * 3600 + minute * 60 + second;
}

/** Keeps `bytes` bytes of a word, and takes the others from `00:00:00`. */
@inline
function filledUp(word: u64, bytes: u64): u64 {
  const mask = ((<u64>1) << (8 * bytes)) - 1;
  return (word & mask) | (zerosAndColons & ~mask);
}

/** Loads eight bytes; those at `end` and after become 0. */
@inline
function loadUpTo(start: usize, end: usize): u64 {
  const word = load<u64>(start);
  if (end - start >= 8) return word;
  return word & (((<u64>1) << (<u64>(end - start) << 3)) - 1);
}

/** `scanTime` and `scanOffset` return two numbers in one: bytes read (lowest bits), and a value. */
const takenBits: u32 = 5;
const takenMax: u32 = 31;
@inline
export function takenOf(scanned: u32): u32 {
  return scanned & takenMax;
}
/** Added to offsets, which are shorter than 16 hours, to make them nonnegative. */
const offsetBias: i32 = 16 * 3600;
@inline
export function microsecondsOf(scanned: i64): i64 {
  return scanned >> takenBits;
}
@inline
export function secondsEastOf(scanned: i32): i32 {
  return (<u32>scanned >> takenBits) - offsetBias;
}

/** (start, end) -> microseconds of `HH:mm[:ss[.ffffff]]` and the bytes read, or -1. */
export function scanTime(start: usize, end: usize): i64 {
  const word = loadUpTo(start, end);
  const hasSeconds = ((<u32>(word >> 40)) & 0xff) == COLON;
  const seconds = scanClock(hasSeconds ? word : filledUp(word, 5));
  if (seconds == -1) return -1;
  let taken: u32 = hasSeconds ? 8 : 5;
  let micros: u32 = 0;
  if (hasSeconds && end - start > 8 && load<u8>(start, 8) == POINT) {
    let digits = loadUpTo(start + 9, end) ^ 0x303030303030;
    // Finds the first of six bytes that is no digit.
    const others = ((digits | (digits + 0x767676767676)) & 0x808080808080) | 0x80000000000000;
    const bits = ctz(others) - 7;
    if (bits == 0) return -1;
    digits &= ((<u64>1) << bits) - 1;
    digits = digits * 10 + (digits >> 8);
    micros =
      <u32>(digits & 0xff) * 10_000 + (<u32>(digits >> 16) & 0xff) * 100 + (<u32>(digits >> 32) & 0xff);
    taken = 9 + <u32>(bits >> 3);
    if (taken == 15)
      while (start + taken < end && taken < takenMax && load<u8>(start + taken) == ZERO) taken += 1;
  }
  return ((<i64>seconds * 1_000_000 + micros) << takenBits) | taken;
}

/** (start, end) -> seconds of `Z`, `±HH[[:]mm]` or `±HH:mm:ss` and the bytes read, or -1. */
export function scanOffset(start: usize, end: usize): i32 {
  if (start >= end) return -1;
  const first = <u32>load<u8>(start);
  if (first == 0x5a) return (offsetBias << takenBits) | 1;
  if (first != PLUS && first != MINUS) return -1;
  let word = loadUpTo(start + 1, end);
  let taken: u32 = 9;
  if (((<u32>(word >> 40)) & 0xff) != COLON) {
    taken = 6;
    word = filledUp(word, 5);
  }
  const third = <u32>(word >> 16) & 0xff;
  if (third != COLON) {
    if (third - ZERO < 10) {
      taken = 5;
      // HHmm becomes HH:mm:00.
      word = (word & 0xffff) | 0x3a0000 | ((word & 0xffff0000) << 8) | 0x30303a0000000000;
    } else {
      taken = 3;
      word = filledUp(word, 2);
    }
  }
  const seconds = scanClock(word);
  if (<u32>seconds >= <u32>offsetBias) return -1;
  return ((offsetBias + (first == MINUS ? -seconds : seconds)) << takenBits) | taken;
}
