// Appends data for the row routine to a table's plan.

import * as layout from '../assembly/layouts.ts';

export interface PlanWriter {
  readonly parts: Buffer[];
  end: number;
}

/** Factor of the hash: see assembly/tokens.ts. */
const hashFactor = 0x9e3779b97f4a7c15n;

export const append = (writer: PlanWriter, bytes: Buffer): number => {
  const address = writer.end;
  writer.parts.push(bytes);
  writer.end += bytes.length;
  return address;
};

export const words = (values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeInt32LE(value, 4 * index));
  return bytes;
};

/** Returns the key that the routine compares: the last eight bytes, padded with zeros. */
const keyOf = (bytes: Buffer): bigint =>
  Buffer.concat([bytes.subarray(-8), Buffer.alloc(8)]).readBigUInt64LE();

/** A bit for each length of a text (bit 31: 31 bytes or longer). */
export const lengthBits = (texts: readonly string[]): number =>
  texts.reduce((bits, text) => bits | (1 << Math.min(Buffer.byteLength(text), 31)), 0);

export const appendTokens = (
  writer: PlanWriter,
  tokens: readonly (readonly [string, Buffer | undefined])[],
): number => {
  const bits = Math.ceil(Math.log2(2 * tokens.length + 2));
  const slots = 2 ** bits;
  const list = Buffer.alloc(layout.tokensFirst + layout.tokenBytes * slots);
  const entryOf = (index: number): number => layout.tokensFirst + layout.tokenBytes * index;
  const isTaken = (index: number): boolean => list.readInt32LE(entryOf(index) + layout.tokenLength) !== -1;
  for (let index = 0; index < slots; index += 1) list.writeInt32LE(-1, entryOf(index) + layout.tokenLength);
  for (const [text, value] of tokens) {
    const bytes = Buffer.from(text);
    // UTF-8 cannot encode half a surrogate pair, so no field equals such a token.
    if (bytes.toString() !== text) continue;
    const key = keyOf(bytes);
    const hash = BigInt.asUintN(64, (key + BigInt(bytes.length)) * hashFactor);
    let free = Number(hash >> BigInt(64 - bits));
    while (isTaken(free)) free = (free + 1) % slots;
    const entry = entryOf(free);
    list.writeInt32LE(append(writer, bytes), entry + layout.tokenAt);
    list.writeInt32LE(bytes.length, entry + layout.tokenLength);
    list.writeInt32LE(value === undefined ? 0 : append(writer, value), entry + layout.tokenValueAt);
    list.writeInt32LE(value?.length ?? -1, entry + layout.tokenValueBytes);
    list.writeBigUInt64LE(key, entry + layout.tokenKey);
  }
  list.writeInt32LE(lengthBits(tokens.map(([text]) => text)), layout.tokensLengths);
  list.writeInt32LE(64 - bits, layout.tokensShift);
  list.writeInt32LE(slots, layout.tokensPlaces);
  return append(writer, list);
};
