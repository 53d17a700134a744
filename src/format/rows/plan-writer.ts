// Appends data for the row routine to a table's plan.

import { hashFactor, token, tokenList } from '../encoder/token-list.ts';

export interface PlanWriter {
  readonly parts: Buffer[];
  end: number;
}

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

export const appendTokens = (
  writer: PlanWriter,
  tokens: readonly (readonly [string, Buffer | undefined])[],
): number => {
  const bits = Math.ceil(Math.log2(2 * tokens.length + 2));
  const slots = 2 ** bits;
  const list = Buffer.alloc(tokenList.first + token.bytes * slots);
  const entryOf = (index: number): number => tokenList.first + token.bytes * index;
  const isTaken = (index: number): boolean => list.readInt32LE(entryOf(index) + token.length) !== -1;
  for (let index = 0; index < slots; index += 1) list.writeInt32LE(-1, entryOf(index) + token.length);
  let lengths = 0;
  for (const [text, value] of tokens) {
    const bytes = Buffer.from(text);
    // UTF-8 cannot encode half a surrogate pair, so no field equals such a token.
    if (bytes.toString() !== text) continue;
    lengths |= 1 << Math.min(bytes.length, 31);
    const key = keyOf(bytes);
    const hash = BigInt.asUintN(64, (key + BigInt(bytes.length)) * hashFactor);
    let free = Number(hash >> BigInt(64 - bits));
    while (isTaken(free)) free = (free + 1) % slots;
    const at = entryOf(free);
    list.writeInt32LE(append(writer, bytes), at + token.at);
    list.writeInt32LE(bytes.length, at + token.length);
    list.writeInt32LE(value === undefined ? 0 : append(writer, value), at + token.valueAt);
    list.writeInt32LE(value?.length ?? -1, at + token.valueBytes);
    list.writeBigUInt64LE(key, at + token.key);
  }
  list.writeInt32LE(lengths, tokenList.lengths);
  list.writeInt32LE(64 - bits, tokenList.shift);
  list.writeInt32LE(slots, tokenList.slots);
  return append(writer, list);
};
