// WebAssembly code for integers and floats.

import { f64, i32, i64, leaveWith, sequence, when, whenElse, type Code, type Local } from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { hasPoint, isNegative, valueOf } from './decimal-code.ts';
import { floatFlags, noDouble } from './float-code.ts';
import { offsetOf } from './kinds.ts';
import { mantissaAt } from './memory.ts';
import { masked, notSure, putConstant, putInt16, putInt32, putInt64, zero } from './put-code.ts';
import { takePlain } from './separators-code.ts';

const parameters = { column: 'i32', start: 'i32', end: 'i32', out: 'i32' } as const;

const integer = {
  ...parameters,
  decimal: 'i64',
  value: 'i64',
  negative: 'i32',
  low: 'i32',
  width: 'i32',
} as const;
type Integer = Readonly<Record<keyof typeof integer, Local>>;

const takeLong = (v: Integer, call: Call): Code => {
  const flag = (bit: number): Code => i32.and(v.low.get, i32.const(bit));
  return sequence(
    v.low.set(call('scanFloat', v.start.get, v.end.get)),
    when(i32.isZero(flag(floatFlags.isWhole)), notSure),
    v.negative.set(i32.shr(flag(floatFlags.isNegative), i32.const(1))),
    v.value.set(i64.load(zero, mantissaAt)),
    when(i64.gt(v.value.get, i64.add(i64.const(0x7fffffffffffffffn), i64.extend(v.negative.get))), notSure),
  );
};

const takeWhole = (v: Integer, call: Call): Code =>
  sequence(
    v.decimal.set(call('scanDecimal', v.start.get, v.end.get)),
    whenElse(
      i64.eq(v.decimal.get, i64.const(-1n)),
      takeLong(v, call),
      sequence(
        when(hasPoint(v.decimal), notSure),
        v.value.set(valueOf(v.decimal)),
        v.negative.set(isNegative(v.decimal)),
      ),
    ),
    when(v.negative.get, v.value.set(i64.sub(i64.const(0n), v.value.get))),
  );

export const readInteger = functionOf(4, integer, (v, call) =>
  sequence(
    takePlain(v, call),
    takeWhole(v, call),
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

const takeDouble = (
  v: { readonly column: Local; readonly start: Local; readonly end: Local; readonly bits: Local },
  call: Call,
): Code =>
  sequence(
    takePlain(v, call),
    v.bits.set(call('scanDouble', v.start.get, v.end.get)),
    when(i64.eq(v.bits.get, noDouble), notSure),
  );

export const readDouble = functionOf(4, { ...parameters, bits: 'i64' }, (v, call) =>
  sequence(
    takeDouble(v, call),
    putConstant(v.out, 0, 8),
    putInt64(v.out, 4, v.bits),
    i32.add(v.out.get, i32.const(12)),
  ),
);

const singles = { least: 1023 - 126, most: 1023 + 126 };

const infinite = 0x7ff0000000000000n;

const putSpecialReal = (v: { readonly out: Local; readonly low: Local; readonly bits: Local }): Code =>
  sequence(
    v.low.set(i32.wrap(i64.shr(v.bits.get, i64.const(32n)))),
    // Keeps sign and exponent. Moves the mantissa's highest bit, which only NaN has, by three.
    v.low.set(
      i32.or(
        i32.and(v.low.get, i32.const(0xff800000 | 0)),
        i32.shl(i32.and(v.low.get, i32.const(0x80000)), i32.const(3)),
      ),
    ),
    putConstant(v.out, 0, 4),
    putInt32(v.out, 4, v.low),
    leaveWith(i32.add(v.out.get, i32.const(8))),
  );

/**
 * Rounds a double to float4. If it is exactly between two float4, rounding twice may be wrong, and
 * types/floats.ts decides.
 */
export const readReal = functionOf(
  4,
  { ...parameters, low: 'i32', bits: 'i64', single: 'f32' },
  (v, call) => {
    const exponent = i32.wrap(masked(i64.shr(v.bits.get, i64.const(52n)), 0x7ffn));
    const value = f64.ofBits(v.bits.get);
    return sequence(
      takeDouble(v, call),
      when(i64.eq(masked(v.bits.get, infinite), i64.const(infinite)), putSpecialReal(v)),
      when(
        i32.gt(i32.sub(exponent, i32.const(singles.least)), i32.const(singles.most - singles.least)),
        when(i32.isZero(i64.isZero(i64.shl(v.bits.get, i64.const(1n)))), notSure),
      ),
      v.single.set(f64.toSingle(value)),
      when(
        i32.and(
          i64.eq(masked(v.bits.get, 0x1fffffffn), i64.const(0x10000000n)),
          f64.ne(f64.fromSingle(v.single.get), value),
        ),
        notSure,
      ),
      v.low.set(i32.bitsOfSingle(v.single.get)),
      putConstant(v.out, 0, 4),
      putInt32(v.out, 4, v.low),
      i32.add(v.out.get, i32.const(8)),
    );
  },
);
