// Numbers from bytes to binary values, in WebAssembly. Whatever is unusual is 0: not sure.

import {
  f64,
  i32,
  i64,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../simd/wasm-code.ts';
import { functionOf, type Call } from '../simd/wasm-module.ts';
import { hasPoint, isNegative, scaleOf, valueOf } from './decimal-code.ts';
import { increase, masked, notSure, putConstant, putInt16, putInt32, putInt64, zero } from './put-code.ts';
import { offsetOf } from './kinds.ts';
import { groupsAt, powersAt, wholePowersAt } from './memory.ts';

/** Leaves the function when the bytes are no decimal of the usual spelling. */
const takeDecimal = (
  v: { readonly start: Local; readonly end: Local; readonly decimal: Local },
  call: Call,
): Code =>
  sequence(
    v.decimal.set(call('scanDecimal', v.start.get, v.end.get)),
    when(i64.eq(v.decimal.get, i64.const(-1n)), notSure),
  );

/** Address of an entry of eight bytes in a table. */
const entry = (table: number, index: Code): Code => i32.add(i32.const(table), i32.shl(index, i32.const(3)));

const parameters = { column: 'i32', start: 'i32', end: 'i32', out: 'i32' } as const;

/** (column, start, end, out) -> the address after the value, or 0. */
export const readInteger = functionOf(
  4,
  { ...parameters, decimal: 'i64', value: 'i64', low: 'i32', width: 'i32' },
  (v, call) =>
    sequence(
      takeDecimal(v, call),
      when(hasPoint(v.decimal), notSure),
      v.value.set(valueOf(v.decimal)),
      when(isNegative(v.decimal), v.value.set(i64.sub(i64.const(0n), v.value.get))),
      when(i64.ltSigned(v.value.get, i64.load(v.column.get, offsetOf('integer', 'least'))), notSure),
      when(i64.gtSigned(v.value.get, i64.load(v.column.get, offsetOf('integer', 'most'))), notSure),
      v.width.set(i32.load(v.column.get, offsetOf('integer', 'bytes'))),
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
    ),
);

/**
 * The nearest double, and its bits with the sign put in: a branch that nobody can foresee costs more than the division.
 *
 * One division of a whole number up to 2^53 by a power of ten up to 10^22 rounds once, and correctly: W. D. Clinger, "How to
 * Read Floating Point Numbers Accurately", 1990.
 */
const takeDouble = (v: { readonly decimal: Local; readonly value: Local; readonly bits: Local }): Code =>
  sequence(
    v.value.set(f64.div(f64.fromSigned(valueOf(v.decimal)), f64.load(entry(powersAt, scaleOf(v.decimal))))),
    v.bits.set(i64.bitsOfDouble(v.value.get)),
  );

/** (column, start, end, out) -> the address after the value, or 0. */
export const readDouble = functionOf(
  4,
  { ...parameters, decimal: 'i64', value: 'f64', bits: 'i64' },
  (v, call) =>
    sequence(
      takeDecimal(v, call),
      takeDouble(v),
      v.bits.set(i64.or(v.bits.get, i64.shl(v.decimal.get, i64.const(63n)))),
      putConstant(v.out, 0, 8),
      putInt64(v.out, 4, v.bits),
      i32.add(v.out.get, i32.const(12)),
    ),
);

/**
 * (column, start, end, out) -> the address after the value, or 0.
 *
 * Rounding the double to float4 rounds twice, which goes wrong only if the double is exactly between two float4:
 * single.ts decides those.
 */
export const readReal = functionOf(
  4,
  { ...parameters, decimal: 'i64', low: 'i32', bits: 'i64', value: 'f64', single: 'f32' },
  (v, call) =>
    sequence(
      takeDecimal(v, call),
      takeDouble(v),
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
    ),
);

/** (column, start, end, out) -> the address after the value, or 0. Format: binary/numeric-bytes.ts. */
export const readNumeric = functionOf(
  4,
  {
    ...parameters,
    decimal: 'i64',
    scale: 'i32',
    fractions: 'i32',
    at: 'i32',
    groups: 'i32',
    low: 'i32',
    count: 'i32',
    group: 'i32',
    rest: 'i64',
  },
  (v, call) => {
    const power = (index: Code): Code => i64.load(entry(wholePowersAt, index));
    const groupAt = (index: Local): Code => i32.load(i32.shl(index.get, i32.const(2)), groupsAt);
    const tenThousand = i64.const(10_000n);
    return sequence(
      takeDecimal(v, call),
      v.scale.set(scaleOf(v.decimal)),
      when(i32.gt(v.scale.get, i32.load(v.column.get, offsetOf('numeric', 'decimalsMax'))), notSure),
      v.rest.set(valueOf(v.decimal)),
      // So many digits before the point are too many, or at least not as expected.
      when(
        i32.isZero(
          i64.ltSigned(
            v.rest.get,
            power(i32.add(i32.load(v.column.get, offsetOf('numeric', 'integersMax')), v.scale.get)),
          ),
        ),
        notSure,
      ),
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
  },
);
