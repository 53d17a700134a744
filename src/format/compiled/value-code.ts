// From bytes to binary values, in WebAssembly: the usual spellings of numbers and texts. Whatever is unusual is 0: not sure.

import {
  f64,
  i32,
  i64,
  leaveWith,
  locals,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../simd/wasm-code.ts';
import { functionOf, type FunctionCode } from '../simd/wasm-module.ts';
import { hasPoint, isNegative, scaleOf, valueOf } from './decimal-code.ts';
import {
  copyBytes,
  increase,
  masked,
  notSure,
  putConstant,
  putInt16,
  putInt32,
  putInt64,
  zero,
} from './put-code.ts';
import { column, groupsAt, powersAt, wholePowersAt } from './row-memory.ts';

const param =
  (offset: number): ((of: Local) => Code) =>
  (of) =>
    i32.load(of.get, offset);
const [a, b] = [param(column.a), param(column.b)];

/** Address of an entry of eight bytes in a table. */
const entry = (table: number, index: Code): Code => i32.add(i32.const(table), i32.shl(index, i32.const(3)));

/** (column, decimal, out) -> the address behind the value, or 0. */
export const readInteger = (): FunctionCode => {
  const v = locals({ column: 'i32', out: 'i32', decimal: 'i64', value: 'i64', low: 'i32', width: 'i32' });
  const body = sequence(
    when(hasPoint(v.decimal), notSure),
    v.value.set(valueOf(v.decimal)),
    when(isNegative(v.decimal), v.value.set(i64.sub(i64.const(0n), v.value.get))),
    when(i64.ltSigned(v.value.get, i64.load(v.column.get, column.c)), notSure),
    when(i64.gtSigned(v.value.get, i64.load(v.column.get, column.e)), notSure),
    v.width.set(a(v.column)),
    v.low.set(i32.wrap(v.value.get)),
    whenElse(
      i32.eq(v.width.get, i32.const(2)),
      sequence(putConstant(v.out, 0, 2), putInt16(v.out, 4, v.low)),
      whenElse(
        i32.eq(v.width.get, i32.const(4)),
        sequence(putConstant(v.out, 0, 4), putInt32(v.out, 4, v.low)),
        sequence(putConstant(v.out, 0, 8), putInt64(v.out, 4, v.value)),
      ),
    ),
    i32.add(i32.add(v.out.get, i32.const(4)), v.width.get),
  );
  return functionOf(v, 3, body);
};

/**
 * (out, decimal, isReal) -> the address behind the value, or 0.
 *
 * One division of a whole number up to 2^53 by a power of ten up to 10^22 rounds once, and correctly: W. D. Clinger, "How to
 * Read Floating Point Numbers Accurately", 1990. Rounding that to float4 rounds twice, which goes wrong only when the
 * double stands exactly between two float4: single.ts decides those.
 */
export const readFloat = (): FunctionCode => {
  const v = locals({
    out: 'i32',
    isReal: 'i32',
    decimal: 'i64',
    low: 'i32',
    bits: 'i64',
    value: 'f64',
    single: 'f32',
  });
  const body = sequence(
    v.value.set(f64.div(f64.fromSigned(valueOf(v.decimal)), f64.load(entry(powersAt, scaleOf(v.decimal))))),
    v.bits.set(i64.bitsOfDouble(v.value.get)),
    // The sign is put in as a bit: a branch that nobody can foresee costs more than the division.
    when(
      i32.isZero(v.isReal.get),
      v.bits.set(i64.or(v.bits.get, i64.shl(v.decimal.get, i64.const(63n)))),
      putConstant(v.out, 0, 8),
      putInt64(v.out, 4, v.bits),
      leaveWith(i32.add(v.out.get, i32.const(12))),
    ),
    v.single.set(f64.toSingle(v.value.get)),
    when(
      i32.and(
        i64.eq(masked(v.bits.get, 0x1fffffffn), i64.const(0x10000000n)),
        f64.ne(f64.fromSingle(v.single.get), v.value.get),
      ),
      notSure,
    ),
    v.low.set(i32.or(i32.bitsOfSingle(v.single.get), i32.shl(i32.wrap(v.decimal.get), i32.const(31)))),
    putConstant(v.out, 0, 4),
    putInt32(v.out, 4, v.low),
    i32.add(v.out.get, i32.const(8)),
  );
  return functionOf(v, 3, body);
};

/** (column, out, decimal) -> the address behind the value, or 0. Format: numeric-bytes.ts. */
export const readNumeric = (): FunctionCode => {
  const v = locals({
    column: 'i32',
    out: 'i32',
    decimal: 'i64',
    scale: 'i32',
    fractions: 'i32',
    at: 'i32',
    groups: 'i32',
    low: 'i32',
    count: 'i32',
    group: 'i32',
    rest: 'i64',
  });
  const power = (index: Code): Code => i64.load(entry(wholePowersAt, index));
  const groupAt = (index: Local): Code => i32.load(i32.shl(index.get, i32.const(2)), groupsAt);
  const tenThousand = i64.const(10_000n);
  const body = sequence(
    v.scale.set(scaleOf(v.decimal)),
    when(i32.gt(v.scale.get, a(v.column)), notSure),
    v.rest.set(valueOf(v.decimal)),
    // So many digits before the point are too many, or at least not as expected.
    when(i32.isZero(i64.ltSigned(v.rest.get, power(i32.add(b(v.column), v.scale.get)))), notSure),
    // Whole groups of four decimals.
    v.fractions.set(i32.shr(i32.add(v.scale.get, i32.const(3)), i32.const(2))),
    v.rest.set(i64.mul(v.rest.get, power(i32.sub(i32.shl(v.fractions.get, i32.const(2)), v.scale.get)))),
    loopWhile(
      i32.isZero(i64.isZero(v.rest.get)),
      i32.store(i32.shl(v.groups.get, i32.const(2)), groupsAt, i32.wrap(i64.mod(v.rest.get, tenThousand))),
      increase(v.groups, 1),
      v.rest.set(i64.div(v.rest.get, tenThousand)),
    ),
    // The lowest groups are left out as long as they are 0.
    loopWhile(i32.and(i32.lt(v.low.get, v.groups.get), i32.isZero(groupAt(v.low))), increase(v.low, 1)),
    v.count.set(i32.sub(v.groups.get, v.low.get)),
    v.group.set(i32.add(i32.const(8), i32.shl(v.count.get, i32.const(1)))),
    putInt32(v.out, 0, v.group),
    putInt16(v.out, 4, v.count),
    // Weight of the first group.
    v.group.set(i32.sub(i32.sub(v.groups.get, v.fractions.get), i32.const(1))),
    when(i32.isZero(v.count.get), v.group.set(zero)),
    putInt16(v.out, 6, v.group),
    v.group.set(i32.shl(i32.and(isNegative(v.decimal), i32.ne(v.count.get, zero)), i32.const(14))),
    putInt16(v.out, 8, v.group),
    putInt16(v.out, 10, v.scale),
    increase(v.out, 12),
    v.at.set(v.groups.get),
    loopWhile(
      i32.lt(v.low.get, v.at.get),
      increase(v.at, -1),
      v.group.set(groupAt(v.at)),
      putInt16(v.out, 0, v.group),
      increase(v.out, 2),
    ),
    v.out.get,
  );
  return functionOf(v, 3, body);
};

/** (column, start, end, out) -> the address behind the text, or 0 when it may be longer than the column takes. */
export const readText = (): FunctionCode => {
  const v = locals({ column: 'i32', start: 'i32', end: 'i32', out: 'i32', length: 'i32', at: 'i32' });
  const body = sequence(
    v.length.set(i32.sub(v.end.get, v.start.get)),
    when(i32.gt(v.length.get, a(v.column)), notSure),
    putInt32(v.out, 0, v.length),
    increase(v.out, 4),
    copyBytes(v.out, v.start, v.length, v.at),
    i32.add(v.out.get, v.length.get),
  );
  return functionOf(v, 4, body);
};
