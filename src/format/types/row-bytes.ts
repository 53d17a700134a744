// A buffer that rows of COPY's binary format are written into. PostgreSQL, "COPY", File Formats, Binary Format.

/** Bytes written so far: `bytes` up to `at`. Grows by doubling; used again for every block. */
export interface RowBytes {
  bytes: Buffer;
  at: number;
}

export const createRowBytes = (size: number): RowBytes => ({ bytes: Buffer.allocUnsafeSlow(size), at: 0 });

/** Makes room for so many bytes more. */
export const reserve = (out: RowBytes, more: number): void => {
  if (out.at + more <= out.bytes.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * out.bytes.length, out.at + more));
  out.bytes.copy(larger, 0, 0, out.at);
  out.bytes = larger;
};

/** Two bytes, high one first; the place must be reserved. */
export const putInt16 = (out: RowBytes, value: number): void => {
  const { bytes, at } = out;
  bytes[at] = value >> 8;
  bytes[at + 1] = value;
  out.at = at + 2;
};

/** Four bytes, high one first; the place must be reserved. */
export const putInt32 = (out: RowBytes, value: number): void => {
  const { bytes, at } = out;
  bytes[at] = value >> 24;
  bytes[at + 1] = value >> 16;
  bytes[at + 2] = value >> 8;
  bytes[at + 3] = value;
  out.at = at + 4;
};

/** The length -1 means null. */
export const putNull = (out: RowBytes): void => {
  reserve(out, 4);
  putInt32(out, -1);
};

const twoTo32 = 2 ** 32;

/** A whole number within ±2^53 as eight bytes after their length. */
export const putInt64 = (out: RowBytes, value: number): void => {
  reserve(out, 12);
  putInt32(out, 8);
  const high = Math.floor(value / twoTo32);
  putInt32(out, high);
  putInt32(out, value - high * twoTo32);
};

export const putBigInt64 = (out: RowBytes, value: bigint): void => {
  reserve(out, 12);
  putInt32(out, 8);
  out.bytes.writeBigInt64BE(value, out.at);
  out.at += 8;
};

/** No unit of UTF-16 takes more than three bytes. */
export const utf8BytesMax = (text: string): number => 3 * text.length;

/** A call into native code costs more than writing so many characters one by one. */
const shortTextMax = 24;

/** Writes characters up to the first that is not ASCII, and returns their number. */
const writeAscii = (text: string, bytes: Buffer, at: number): number => {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return index;
    bytes[at + index] = code;
  }
  return text.length;
};

/** Writes length and bytes; serves as an encoder. */
export const putText = (text: string, out: RowBytes): void => {
  reserve(out, 4 + utf8BytesMax(text));
  if (text.length <= shortTextMax && writeAscii(text, out.bytes, out.at + 4) === text.length) {
    putInt32(out, text.length);
    out.at += text.length;
    return;
  }
  const length = out.bytes.write(text, out.at + 4);
  putInt32(out, length);
  out.at += length;
};

const doubles = new Float64Array(1);
const singles = new Float32Array(1);
const doubleWords = new Int32Array(doubles.buffer);
const singleWord = new Int32Array(singles.buffer);
/** 0 where memory holds the low byte first, as on every machine that Node.js is built for but s390x. */
const lowWord = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;

export const putDouble = (out: RowBytes, value: number): void => {
  reserve(out, 12);
  putInt32(out, 8);
  doubles[0] = value;
  putInt32(out, doubleWords[1 - lowWord]!);
  putInt32(out, doubleWords[lowWord]!);
};

/** A number that is a float4 already. */
export const putSingle = (out: RowBytes, value: number): void => {
  reserve(out, 8);
  putInt32(out, 4);
  singles[0] = value;
  putInt32(out, singleWord[0]!);
};

/** Bytes [start, end) as they are; the place must be reserved. A call into native code costs more than a few bytes. */
export const putBytes = (out: RowBytes, bytes: Buffer, start: number, end: number): void => {
  const { bytes: target, at } = out;
  if (end - start > 24) bytes.copy(target, at, start, end);
  else for (let index = start; index < end; index += 1) target[at + index - start] = bytes[index]!;
  out.at = at + end - start;
};

/** Bytes before the first row: signature, flags, no header extension. */
export const binaryHead = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');

/** Bytes after the last row. */
export const binaryTail = Buffer.from([0xff, 0xff]);
