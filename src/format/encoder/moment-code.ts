// WebAssembly code for dates, times and timestamps in ISO 8601.

import { MINUS, SPACE } from '../../core/characters.ts';
import {
  choose,
  i32,
  i64,
  leaveWith,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { microsecondsOf, secondsEastOf, takenOf } from './clock-code.ts';
import { noDay } from './day-code.ts';
import { noZone, offsetOf } from './kinds.ts';
import { notSure, putConstant, putInt32, putInt64, unless, zero } from './put-code.ts';

const LETTER_T = 84;

const dateLength = 'YYYY-MM-DD'.length;
const timeStart = dateLength + 1;
const timestampLengthMin = 'YYYY-MM-DDTHH:mm'.length;

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  days: 'i32',
  at: 'i32',
  offset: 'i32',
  time: 'i64',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const takeDay = (v: Variables, call: Call): Code =>
  sequence(v.days.set(call('scanDay', v.start.get)), when(i32.eq(v.days.get, i32.const(noDay)), notSure));

const takeTime = (v: Variables, start: Code, call: Call): Code =>
  sequence(v.time.set(call('scanTime', start, v.end.get)), when(i64.eq(v.time.get, i64.const(-1n)), notSure));

const infinity = i64.const(Buffer.from('infinity').readBigInt64LE());

/** (start, end) -> 1: `infinity`, 2: `-infinity`, 0: neither. */
export const scanInfinity = functionOf(2, { start: 'i32', end: 'i32', isNegative: 'i32' }, (v) =>
  sequence(
    v.isNegative.set(i32.eq(i32.loadByte(v.start.get), i32.const(MINUS))),
    v.start.set(i32.add(v.start.get, v.isNegative.get)),
    choose(
      i32.and(
        i32.eq(i32.sub(v.end.get, v.start.get), i32.const('infinity'.length)),
        i64.eq(i64.load(v.start.get), infinity),
      ),
      i32.add(i32.const(1), v.isNegative.get),
      zero,
    ),
  ),
);

/** Sets `at` to 1 for infinity, 2 for -infinity: `at` + 0x7ffffffe is the date. */
const takeInfinity = (v: Variables, call: Call): Code =>
  sequence(v.at.set(call('scanInfinity', v.start.get, v.end.get)), unless(v.at.get));

export const readDate = functionOf(4, variables, (v, call) =>
  sequence(
    whenElse(
      i32.eq(i32.sub(v.end.get, v.start.get), i32.const(dateLength)),
      takeDay(v, call),
      sequence(takeInfinity(v, call), v.days.set(i32.add(i32.const(0x7ffffffe), v.at.get))),
    ),
    putConstant(v.out, 0, 4),
    putInt32(v.out, 4, v.days),
    i32.add(v.out.get, i32.const(8)),
  ),
);

/** (out, days, offset, microseconds of the day) -> address after the timestamp. */
export const putMoment = functionOf(4, { out: 'i32', days: 'i32', offset: 'i32', value: 'i64' }, (v) =>
  sequence(
    v.value.set(
      i64.add(
        v.value.get,
        i64.mul(
          i64.sub(i64.mul(i64.extendSigned(v.days.get), i64.const(86_400n)), i64.extendSigned(v.offset.get)),
          i64.const(1_000_000n),
        ),
      ),
    ),
    putConstant(v.out, 0, 8),
    putInt64(v.out, 4, v.value),
    i32.add(v.out.get, i32.const(12)),
  ),
);

export const readTime = functionOf(4, variables, (v, call) =>
  sequence(
    takeTime(v, v.start.get, call),
    unless(i32.eq(i32.add(v.start.get, takenOf(i32.wrap(v.time.get))), v.end.get)),
    call('putMoment', v.out.get, zero, zero, microsecondsOf(v.time)),
  ),
);

const takeIsoOffset = (v: Variables, call: Call): Code =>
  sequence(
    v.offset.set(i32.load(v.column.get, offsetOf('timestamp', 'zone'))),
    when(
      i32.ne(v.at.get, v.end.get),
      unless(i32.load(v.column.get, offsetOf('timestamp', 'mayHaveOffset'))),
      v.offset.set(call('scanOffset', v.at.get, v.end.get)),
      when(i32.eq(v.offset.get, i32.const(-1)), notSure),
      // An offset of five bytes is +0100, which is allowed only in patterns.
      when(i32.eq(takenOf(v.offset.get), i32.const(5)), notSure),
      unless(i32.eq(i32.add(v.at.get, takenOf(v.offset.get)), v.end.get)),
      v.offset.set(secondsEastOf(v.offset)),
    ),
    when(i32.eq(v.offset.get, i32.const(noZone)), notSure),
  );

export const readTimestamp = functionOf(4, variables, (v, call) => {
  const separator = i32.loadByte(v.start.get, dateLength);
  return sequence(
    when(
      i32.lt(i32.sub(v.end.get, v.start.get), i32.const(timestampLengthMin)),
      takeInfinity(v, call),
      v.time.set(i64.add(i64.const(2n ** 63n - 2n), i64.extend(v.at.get))),
      leaveWith(call('putMoment', v.out.get, zero, zero, v.time.get)),
    ),
    unless(i32.or(i32.eq(separator, i32.const(LETTER_T)), i32.eq(separator, i32.const(SPACE)))),
    takeDay(v, call),
    takeTime(v, i32.add(v.start.get, i32.const(timeStart)), call),
    v.at.set(i32.add(i32.add(v.start.get, i32.const(timeStart)), takenOf(i32.wrap(v.time.get)))),
    takeIsoOffset(v, call),
    call('putMoment', v.out.get, v.days.get, v.offset.get, microsecondsOf(v.time)),
  );
});
