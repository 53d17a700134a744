// Tests bytes: one by one, and 16 or 64 at once.

export const TAB: u32 = 9;
export const LF: u32 = 10;
export const CR: u32 = 13;
export const SPACE: u32 = 32;
export const PLUS: u32 = 43;
export const COMMA: u32 = 44;
export const MINUS: u32 = 45;
export const POINT: u32 = 46;
export const ZERO: u32 = 48;
export const NINE: u32 = 57;
export const COLON: u32 = 58;
export const BACKSLASH: u32 = 92;

/** A digit's value; more than nine if the byte is not a digit. */
@inline
export function digitAt(at: usize): u32 {
  return <u32>load<u8>(at) - ZERO;
}

@inline
export function isDigitBefore(at: usize, end: usize): bool {
  return at < end && digitAt(at) < 10;
}

@inline
export function isBlank(byte: u32): bool {
  return byte == SPACE || byte == TAB;
}

/** A mask of the bits for the bytes of [at, end), at most 16. */
@inline
export function bitsBefore(at: usize, end: usize): u32 {
  const left = end - at;
  return (1 << (left < 16 ? left : 16)) - 1;
}

/** One bit for each of 64 bytes, which the vectors have as 0x00 or 0xff. */
@inline
export function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a)) |
    (<u64>(<u32>i8x16.bitmask(b)) << 16) |
    (<u64>(<u32>i8x16.bitmask(c)) << 32) |
    (<u64>(<u32>i8x16.bitmask(d)) << 48)
  );
}

/** Sets each bit to the parity of it and all lower bits. If the bits are quotes: 1 inside quotes. */
@inline
export function parities(x: u64): u64 {
  x ^= x << 1;
  x ^= x << 2;
  x ^= x << 4;
  x ^= x << 8;
  x ^= x << 16;
  x ^= x << 32;
  return x;
}
