// Tests a column's rules (`.min`, `.max`, `.oneOf`, `.length`) on the value just written.

import { f64, i32, i64, loopWhile, sequence, when, whenElse, type Code, type Local } from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { isNegative, scaleOf, valueOf } from './decimal-code.ts';
import { order, ruleLayout } from './layouts.ts';
import { powersAt } from './memory.ts';
import { increase, notSure, turnAround } from './put-code.ts';

const variables = {
  rules: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  length: 'i32',
  order: 'i32',
  bits: 'i64',
  value: 'i64',
  decimal: 'i64',
  number: 'f64',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

/** Two different decimals of up to 15 digits never share a double. */
const digitsMax = 15;

/** Compares numbers as integers. Inverting the bits of negative floats keeps the floats' order. */
const compareWritten = (v: Variables): Code => {
  const unused = i64.sub(i64.const(64n), v.bits.get);
  return sequence(
    v.bits.set(i64.shl(i64.extend(i32.loadByte(v.out.get, 3)), i64.const(3n))),
    v.value.set(i64.load(v.out.get, 4)),
    turnAround(v.value),
    v.value.set(i64.shrSigned(v.value.get, unused)),
    when(
      i32.and(i32.eq(v.order.get, i32.const(order.float)), i64.ltSigned(v.value.get, i64.const(0n))),
      v.value.set(i64.xor(v.value.get, i64.shr(i64.const(-1n), i64.add(unused, i64.const(1n))))),
    ),
    when(i64.ltSigned(v.value.get, i64.load(v.rules.get, ruleLayout.least)), notSure),
    when(i64.gtSigned(v.value.get, i64.load(v.rules.get, ruleLayout.most)), notSure),
  );
};

const compareDecimal = (v: Variables, call: Call): Code =>
  sequence(
    v.decimal.set(call('scanDecimal', v.start.get, v.end.get)),
    when(i64.eq(v.decimal.get, i64.const(-1n)), notSure),
    v.value.set(valueOf(v.decimal)),
    when(i64.gtSigned(v.value.get, i64.const(10n ** BigInt(digitsMax) - 1n)), notSure),
    v.number.set(
      f64.div(
        f64.fromSigned(v.value.get),
        f64.load(i32.add(i32.const(powersAt), i32.shl(scaleOf(v.decimal), i32.const(3)))),
      ),
    ),
    when(isNegative(v.decimal), v.number.set(f64.negative(v.number.get))),
    when(f64.lt(v.number.get, f64.load(v.rules.get, ruleLayout.least)), notSure),
    when(f64.gt(v.number.get, f64.load(v.rules.get, ruleLayout.most)), notSure),
  );

/** Compares a length. A text has as many characters as bytes if it is ASCII, otherwise fewer. */
const compareLength = (v: Variables): Code => {
  const least = i32.load(v.rules.get, ruleLayout.charactersMin);
  const isAscii = i32.lt(i32.loadByte(v.start.get), i32.const(0x80));
  return sequence(
    v.length.set(i32.sub(v.end.get, v.start.get)),
    when(i32.gt(v.length.get, i32.load(v.rules.get, ruleLayout.charactersMax)), notSure),
    when(i32.lt(v.length.get, least), notSure),
    // A character has up to four bytes, so four times the minimum in bytes is long enough.
    when(
      i32.and(i32.gt(least, i32.const(1)), i32.lt(v.length.get, i32.shl(least, i32.const(2)))),
      loopWhile(i32.and(i32.lt(v.start.get, v.end.get), isAscii), increase(v.start, 1)),
      when(i32.lt(v.start.get, v.end.get), notSure),
    ),
  );
};

/** (rules, start, end, address of the value) -> 1 if it obeys the rules, 0: JavaScript decides. */
export const obeysRules = functionOf(4, variables, (v, call) =>
  sequence(
    v.order.set(i32.load(v.rules.get, ruleLayout.order)),
    when(
      v.order.get,
      whenElse(i32.eq(v.order.get, i32.const(order.decimal)), compareDecimal(v, call), compareWritten(v)),
    ),
    when(
      i32.load(v.rules.get, ruleLayout.values),
      when(
        i32.isZero(call('findToken', i32.load(v.rules.get, ruleLayout.values), v.start.get, v.end.get)),
        notSure,
      ),
    ),
    when(i32.load(v.rules.get, ruleLayout.hasLength), compareLength(v)),
    i32.const(1),
  ),
);
