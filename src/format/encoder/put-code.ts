// Writes numbers and bytes, big-endian as COPY's binary format requires.

import { i32, i64, leaveWith, loopWhile, sequence, v128, when, type Code, type Local } from '../wasm-code.ts';

export const zero = i32.const(0);
export const notSure = leaveWith(zero);
export const unless = (condition: Code): Code => when(i32.isZero(condition), notSure);

export const increase = (variable: Local, by: number): Code =>
  variable.set(i32.add(variable.get, i32.const(by)));

const swapped = (value: Local): Code =>
  i32.or(
    i32.and(i32.rotate(value.get, i32.const(8)), i32.const(0x00ff00ff)),
    i32.and(i32.rotate(value.get, i32.const(24)), i32.const(0xff00ff00 | 0)),
  );

const swappedConstant = (value: number): number => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes.readInt32LE();
};

export const putInt32 = (out: Local, offset: number, value: Local): Code =>
  i32.store(out.get, offset, swapped(value));

export const putConstant = (out: Local, offset: number, value: number): Code =>
  i32.store(out.get, offset, i32.const(swappedConstant(value)));

export const putInt16 = (out: Local, offset: number, value: Local): Code =>
  i32.storeShort(
    out.get,
    offset,
    i32.or(i32.shl(value.get, i32.const(8)), i32.and(i32.shr(value.get, i32.const(8)), i32.const(0xff))),
  );

export const masked = (value: Code, mask: bigint): Code => i64.and(value, i64.const(mask));

export const turnAround = (value: Local): Code =>
  sequence(
    ...[
      [8n, 0x00ff00ff00ff00ffn],
      [16n, 0x0000ffff0000ffffn],
    ].map(([bits, mask]) =>
      value.set(
        i64.or(
          i64.shl(masked(value.get, mask!), i64.const(bits!)),
          masked(i64.shr(value.get, i64.const(bits!)), mask!),
        ),
      ),
    ),
    value.set(i64.rotate(value.get, i64.const(32n))),
  );

export const putInt64 = (out: Local, offset: number, value: Local): Code =>
  sequence(turnAround(value), i64.store(out.get, offset, value.get));

/** Copies `length` bytes, and up to 15 bytes after them: see `overrun`. */
export const copyBytes = (to: Local, from: Local, length: Local, at: Local): Code =>
  sequence(
    at.set(zero),
    loopWhile(
      i32.lt(at.get, length.get),
      v128.store(i32.add(to.get, at.get), 0, v128.load(i32.add(from.get, at.get))),
      increase(at, 16),
    ),
  );
