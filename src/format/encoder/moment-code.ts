// Dates and timestamps of a pattern with fixed places, such as YYYYMMDDHHmm, from bytes to binary, in WebAssembly.

import { i32, i64, leaveWith, loopWhile, sequence, when, type Code, type Local } from '../simd/wasm-code.ts';
import { functionOf, type Call } from '../simd/wasm-module.ts';
import { offsetOf } from './kinds.ts';
import { literal, literalList, monthDaysAt } from './memory.ts';
import { increase, notSure, putConstant, putInt32, putInt64, zero } from './put-code.ts';

const ZERO = 48;

/** (from, count) -> the value of so many digits, or -1. */
export const readDigits = functionOf(2, { from: 'i32', count: 'i32', digit: 'i32', value: 'i32' }, (v) => {
  return sequence(
    v.count.set(i32.add(v.from.get, v.count.get)),
    loopWhile(
      i32.lt(v.from.get, v.count.get),
      v.digit.set(i32.sub(i32.loadByte(v.from.get), i32.const(ZERO))),
      when(i32.gt(v.digit.get, i32.const(9)), leaveWith(i32.const(-1))),
      v.value.set(i32.add(i32.mul(v.value.get, i32.const(10)), v.digit.get)),
      increase(v.from, 1),
    ),
    v.value.get,
  );
});

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  at: 'i32',
  count: 'i32',
  year: 'i32',
  month: 'i32',
  day: 'i32',
  hour: 'i32',
  minute: 'i32',
  second: 'i32',
  days: 'i32',
  ofEra: 'i32',
  value: 'i64',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

/** A field of the column's layout, which both kinds have in the same place. */
const dayField = (v: Variables, field: Parameters<typeof offsetOf<'date'>>[1]): Code =>
  i32.load(v.column.get, offsetOf('date', field));

/** Whether every literal of the pattern is in its place. */
const checkLiterals = (v: Variables): Code =>
  sequence(
    v.at.set(dayField(v, 'literals')),
    v.count.set(i32.load(v.at.get, literalList.count)),
    loopWhile(
      v.count.get,
      when(
        i32.ne(
          i32.loadByte(i32.add(v.start.get, i32.load(v.at.get, literalList.first + literal.place))),
          i32.load(v.at.get, literalList.first + literal.byte),
        ),
        notSure,
      ),
      increase(v.at, literal.bytes),
      increase(v.count, -1),
    ),
  );

const both = (...conditions: readonly Code[]): Code =>
  conditions.reduce((left, right) => i32.and(left, right));

/** A day of the calendar, years 1 to 9999; -1 is larger than every bound. */
const checkDay = (v: Variables): Code => {
  const isLeap = i32.and(
    i32.isZero(i32.mod(v.year.get, i32.const(4))),
    i32.or(
      i32.ne(i32.mod(v.year.get, i32.const(100)), zero),
      i32.isZero(i32.mod(v.year.get, i32.const(400))),
    ),
  );
  const notWithin = (value: Local, least: number, most: number): Code =>
    when(i32.gt(i32.sub(value.get, i32.const(least)), i32.const(most - least)), notSure);
  return sequence(
    notWithin(v.year, 1, 9999),
    notWithin(v.month, 1, 12),
    notWithin(v.day, 1, 31),
    when(
      i32.gt(v.day.get, i32.loadByte(v.month.get, monthDaysAt)),
      when(
        i32.isZero(both(i32.eq(v.month.get, i32.const(2)), i32.eq(v.day.get, i32.const(29)), isLeap)),
        notSure,
      ),
    ),
  );
};

/** Days from 2000-01-01. Algorithm: Howard Hinnant, days_from_civil; see moments.ts. */
const countDays = (v: Variables): Code => {
  const isEarly = i32.le(v.month.get, i32.const(2));
  return sequence(
    // Years begin in March; months from then.
    v.year.set(i32.sub(v.year.get, isEarly)),
    v.month.set(i32.mod(i32.add(v.month.get, i32.const(9)), i32.const(12))),
    v.ofEra.set(i32.mod(v.year.get, i32.const(400))),
    v.days.set(
      i32.add(
        i32.div(i32.add(i32.mul(i32.const(153), v.month.get), i32.const(2)), i32.const(5)),
        i32.sub(v.day.get, i32.const(1)),
      ),
    ),
    v.days.set(
      i32.add(
        v.days.get,
        i32.sub(
          i32.add(i32.mul(v.ofEra.get, i32.const(365)), i32.div(v.ofEra.get, i32.const(4))),
          i32.div(v.ofEra.get, i32.const(100)),
        ),
      ),
    ),
    v.days.set(
      i32.sub(
        i32.add(v.days.get, i32.mul(i32.div(v.year.get, i32.const(400)), i32.const(146_097))),
        i32.const(730_425),
      ),
    ),
  );
};

/** Reads the day and counts it. */
const takeDay = (v: Variables, call: Call): Code => {
  const part = (target: Local, field: 'year' | 'month' | 'day', digits: number): Code =>
    target.set(call('readDigits', i32.add(v.start.get, dayField(v, field)), i32.const(digits)));
  return sequence(
    when(i32.ne(i32.sub(v.end.get, v.start.get), dayField(v, 'length')), notSure),
    checkLiterals(v),
    part(v.year, 'year', 4),
    part(v.month, 'month', 2),
    part(v.day, 'day', 2),
    checkDay(v),
    countDays(v),
  );
};

/** (column, start, end, out) -> the address after the value, or 0. */
export const readDate = functionOf(4, variables, (v, call) =>
  sequence(
    takeDay(v, call),
    putConstant(v.out, 0, 4),
    putInt32(v.out, 4, v.days),
    i32.add(v.out.get, i32.const(8)),
  ),
);

/** (column, start, end, out) -> the address after the value, or 0. */
export const readTimestamp = functionOf(4, variables, (v, call) => {
  const part = (target: Local, field: 'hour' | 'minute' | 'second', limit: number): Code => {
    const place = i32.load(v.column.get, offsetOf('timestamp', field));
    return sequence(
      when(
        i32.ne(place, i32.const(-1)),
        target.set(call('readDigits', i32.add(v.start.get, place), i32.const(2))),
      ),
      when(i32.ge(target.get, i32.const(limit)), notSure),
    );
  };
  return sequence(
    takeDay(v, call),
    part(v.hour, 'hour', 24),
    part(v.minute, 'minute', 60),
    part(v.second, 'second', 60),
    v.value.set(
      i64.mul(
        i64.add(
          i64.mul(i64.extendSigned(v.days.get), i64.const(86_400n)),
          i64.extend(
            i32.add(
              i32.add(i32.mul(v.hour.get, i32.const(3600)), i32.mul(v.minute.get, i32.const(60))),
              v.second.get,
            ),
          ),
        ),
        i64.const(1_000_000n),
      ),
    ),
    putConstant(v.out, 0, 8),
    putInt64(v.out, 4, v.value),
    i32.add(v.out.get, i32.const(12)),
  );
});
