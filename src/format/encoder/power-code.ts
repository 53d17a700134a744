// WebAssembly code for numeric with an exponent.

import { i32, i64, loopWhile, sequence, when, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { codeOf } from './byte-code.ts';
import { exponentAt, mantissaAt, numberBytesMax, plainAt } from './memory.ts';
import { increase, unless, zero } from './put-code.ts';

const variables = {
  column: 'i32',
  negative: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  /** The last digit is multiplied by 10 to this power. */
  exponent: 'i32',
  /** `left` digits and zeros are still to be written, backwards from the address `to`. */
  left: 'i32',
  to: 'i32',
  value: 'i64',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

/** A number of 19 digits, a point and this exponent fits into `numberBytesMax`. */
const exponentMax = 100;

const writeBefore = (v: Variables, byte: Code): Code =>
  sequence(increase(v.to, -1), i32.storeByte(v.to.get, 0, byte));

const writeDigit = (v: Variables): Code =>
  sequence(
    writeBefore(v, i32.add(i32.wrap(i64.mod(v.value.get, i64.const(10n))), i32.const(codeOf('0')))),
    v.value.set(i64.div(v.value.get, i64.const(10n))),
  );

const writeDecimals = (v: Variables): Code =>
  sequence(
    v.left.set(i32.sub(zero, v.exponent.get)),
    loopWhile(v.left.get, writeDigit(v), increase(v.left, -1)),
    writeBefore(v, i32.const(codeOf('.'))),
  );

const writeZeros = (v: Variables): Code =>
  sequence(
    v.left.set(v.exponent.get),
    loopWhile(v.left.get, writeBefore(v, i32.const(codeOf('0'))), increase(v.left, -1)),
  );

/** Passes `readNumeric` the number without exponent: 1.50e1 becomes 15.0. */
export const readPower = functionOf(5, variables, (v, call) =>
  sequence(
    unless(i32.ge(i32.loadByte(v.start.get), i32.const(codeOf('.')))),
    unless(call('scanFloat', v.start.get, v.end.get)),
    v.value.set(i64.load(i32.const(mantissaAt))),
    v.exponent.set(i32.load(i32.const(exponentAt))),
    unless(i32.le(i32.add(v.exponent.get, i32.const(exponentMax)), i32.const(2 * exponentMax))),
    v.to.set(i32.const(plainAt + numberBytesMax)),
    when(i32.ltSigned(v.exponent.get, zero), writeDecimals(v)),
    when(i32.ltSigned(zero, v.exponent.get), writeZeros(v)),
    writeDigit(v),
    loopWhile(i32.isZero(i64.isZero(v.value.get)), writeDigit(v)),
    when(v.negative.get, writeBefore(v, i32.const(codeOf('-')))),
    call('readNumeric', v.column.get, v.to.get, i32.const(plainAt + numberBytesMax), v.out.get),
  ),
);
