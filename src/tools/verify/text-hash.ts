// PostgreSQL's hashtextextended(text, 0) on a little-endian server: hash_bytes_extended() in
// src/common/hashfn.c, which is lookup3 by Bob Jenkins.

/** The halves of the hash. Sums of many such halves are exact as doubles. */
interface TextHash {
  hi: number;
  lo: number;
}

const start = 0x9e3779b9 + 3_923_095;

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

const encoder = new TextEncoder();
let bytes = new Uint8Array(1024);

const encode = (text: string): number => {
  if (bytes.length < text.length * 3) bytes = new Uint8Array(text.length * 4);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 127) return encoder.encodeInto(text, bytes).written;
    bytes[at] = unit;
  }
  return text.length;
};

const word = (at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);

const rest = (at: number, end: number): number => {
  let value = 0;
  for (let index = end - 1; index >= at; index -= 1) value = (value << 8) | bytes[index]!;
  return value;
};

export const textHash = (text: string): TextHash => {
  const length = encode(text);
  let at = 0;
  let a = (start + length) | 0;
  let b = a;
  let c = a;
  for (; length - at >= 12; at += 12) {
    a = (a + word(at)) | 0;
    b = (b + word(at + 4)) | 0;
    c = (c + word(at + 8)) | 0;
    a = (((a - c) | 0) ^ rotate(c, 4)) | 0;
    c = (c + b) | 0;
    b = (((b - a) | 0) ^ rotate(a, 6)) | 0;
    a = (a + c) | 0;
    c = (((c - b) | 0) ^ rotate(b, 8)) | 0;
    b = (b + a) | 0;
    a = (((a - c) | 0) ^ rotate(c, 16)) | 0;
    c = (c + b) | 0;
    b = (((b - a) | 0) ^ rotate(a, 19)) | 0;
    a = (a + c) | 0;
    c = (((c - b) | 0) ^ rotate(b, 4)) | 0;
    b = (b + a) | 0;
  }
  const left = length - at;
  // In c, the lowest byte is reserved for the length.
  if (left > 8) c = (c + (rest(at + 8, length) << 8)) | 0;
  if (left > 4) b = (b + (left >= 8 ? word(at + 4) : rest(at + 4, length))) | 0;
  a = (a + (left >= 4 ? word(at) : rest(at, length))) | 0;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  c = ((c ^ b) - rotate(b, 24)) | 0;
  return { hi: b, lo: c >>> 0 };
};
