// Writes numbers and bytes, big-endian as COPY's binary format requires.

import { overrun } from './memory';

@inline
export function swap32(x: u32): u32 {
  return (rotl<u32>(x, 8) & 0x00ff00ff) | (rotl<u32>(x, 24) & 0xff00ff00);
}

@inline
export function swap64(x: u64): u64 {
  x = ((x >> 8) & 0x00ff00ff00ff00ff) | ((x & 0x00ff00ff00ff00ff) << 8);
  x = ((x >> 16) & 0x0000ffff0000ffff) | ((x & 0x0000ffff0000ffff) << 16);
  return rotl<u64>(x, 32);
}

@inline
export function putInt16(out: usize, value: u32): void {
  store<u16>(out, <u16>((value << 8) | ((value >> 8) & 0xff)));
}

@inline
export function putInt32(out: usize, value: u32): void {
  store<u32>(out, swap32(value));
}

/** Writes a length of 4 and the value; returns the address after them. */
@inline
export function putFour(out: usize, value: u32): usize {
  store<u32>(out, 0x04000000);
  store<u32>(out, swap32(value), 4);
  return out + 8;
}

/** Writes a length of 8 and the value; returns the address after them. */
@inline
export function putEight(out: usize, value: u64): usize {
  store<u32>(out, 0x08000000);
  store<u64>(out, swap64(value), 4);
  return out + 12;
}

/** Copies `length` bytes, and up to 15 bytes after them: see `overrun`. */
@inline
export function copyBytes(to: usize, from: usize, length: usize): void {
  v128.store(to, v128.load(from));
  for (let at: usize = overrun; at < length; at += overrun) v128.store(to + at, v128.load(from + at));
}
