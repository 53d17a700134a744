// A growing buffer for rows in COPY's binary format. PostgreSQL, "COPY", File Formats, Binary
// Format.

/** The bytes before index `at` are written. Doubles when full, and is reused for every block. */
export interface RowBytes {
  bytes: Buffer;
  at: number;
}

export const createRowBytes = (size: number): RowBytes => ({ bytes: Buffer.allocUnsafeSlow(size), at: 0 });

export const reserve = (out: RowBytes, more: number): void => {
  if (out.at + more <= out.bytes.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * out.bytes.length, out.at + more));
  out.bytes.copy(larger, 0, 0, out.at);
  out.bytes = larger;
};

/** Writes two bytes, big-endian. The caller has reserved them. */
export const putInt16 = (out: RowBytes, value: number): void => {
  const { bytes, at } = out;
  bytes[at] = value >> 8;
  bytes[at + 1] = value;
  out.at = at + 2;
};

/** Writes four bytes, big-endian. The caller has reserved them. */
export const putInt32 = (out: RowBytes, value: number): void => {
  const { bytes, at } = out;
  bytes[at] = value >> 24;
  bytes[at + 1] = value >> 16;
  bytes[at + 2] = value >> 8;
  bytes[at + 3] = value;
  out.at = at + 4;
};

/** Writes length -1, which means null. */
export const putNull = (out: RowBytes): void => {
  reserve(out, 4);
  putInt32(out, -1);
};

const twoTo32 = 2 ** 32;

/** Writes an integer within ±2^53 as length and eight bytes. */
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

/** One UTF-16 code unit takes at most three bytes in UTF-8. */
export const utf8BytesMax = (text: string): number => 3 * text.length;

/** Texts up to this length are copied in a loop, which is faster than a call into native code. */
const shortTextMax = 24;

/** Writes characters up to the first that is not ASCII. Returns how many it wrote. */
const writeAscii = (text: string, bytes: Buffer, at: number): number => {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return index;
    bytes[at + index] = code;
  }
  return text.length;
};

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
/** Index of a double's low word: 0 on little-endian machines (all but s390x). */
const lowWord = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;

export const putDouble = (out: RowBytes, value: number): void => {
  reserve(out, 12);
  putInt32(out, 8);
  doubles[0] = value;
  putInt32(out, doubleWords[1 - lowWord]!);
  putInt32(out, doubleWords[lowWord]!);
};

/** Writes a number that is exactly a float4. */
export const putSingle = (out: RowBytes, value: number): void => {
  reserve(out, 8);
  putInt32(out, 4);
  singles[0] = value;
  putInt32(out, singleWord[0]!);
};

/**
 * Copies bytes [start, end). The caller has reserved them. A few bytes are copied in a loop, which
 * is faster than a call into native code.
 */
export const putBytes = (out: RowBytes, bytes: Buffer, start: number, end: number): void => {
  const { bytes: target, at } = out;
  if (end - start > 24) bytes.copy(target, at, start, end);
  else for (let index = start; index < end; index += 1) target[at + index - start] = bytes[index]!;
  out.at = at + end - start;
};

/** Start of a binary COPY stream: signature, flags, empty header extension. */
export const binaryHead = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');

export const binaryTail = Buffer.from([0xff, 0xff]);
