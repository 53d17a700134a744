// WebAssembly code that tests 64 bytes at once. The result is an i64, one bit for each byte.

import { i32, i64, sequence, v128, type Code, type Local } from './wasm-code.ts';

export const loadGroup = (group: readonly Local[], address: Code): Code =>
  sequence(...group.map((part, index) => part.set(v128.load(address, 16 * index))));

export const bitsOf = (group: readonly Local[], byte: Local): Code =>
  group
    .map((part, index) =>
      i64.shl(i64.extend(v128.bits(v128.eq(part.get, byte.get))), i64.const(BigInt(16 * index))),
    )
    .reduce((left, right) => i64.or(left, right));

/** Sets each bit to the parity of it and all lower bits. If `bits` are quotes: 1 inside quotes. */
export const parities = (bits: Local): Code =>
  sequence(
    ...[1n, 2n, 4n, 8n, 16n, 32n].map((distance) =>
      bits.set(i64.xor(bits.get, i64.shl(bits.get, i64.const(distance)))),
    ),
  );

export const isSome = (bits: Code): Code => i32.isZero(i64.isZero(bits));
