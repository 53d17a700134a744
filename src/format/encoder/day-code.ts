// WebAssembly code for dates, eight characters at once.

import { ZERO } from '../../core/characters.ts';
import { i32, i64, leaveWith, loopWhile, sequence, when, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { monthDaysAt } from './memory.ts';
import { increase, zero } from './put-code.ts';

export const noDay = 0x7fffffff;

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

export const readTwo = functionOf(1, { at: 'i32' }, (v) =>
  sequence(
    v.at.set(i32.xor(i32.loadShort(v.at.get), i32.const(0x3030))),
    when(
      i32.and(i32.or(v.at.get, i32.add(v.at.get, i32.const(0x7676))), i32.const(0x8080)),
      leaveWith(i32.const(-1)),
    ),
    i32.add(i32.mul(i32.and(v.at.get, i32.const(0xff)), i32.const(10)), i32.shr(v.at.get, i32.const(8))),
  ),
);

/** (year, month, day) -> days since 2000-01-01, or `noDay`. Howard Hinnant's days_from_civil. */
export const countDays = functionOf(
  3,
  { year: 'i32', month: 'i32', day: 'i32', ofEra: 'i32', days: 'i32' },
  (v) => {
    const none = leaveWith(i32.const(noDay));
    const isLeap = i32.and(
      i32.isZero(i32.mod(v.year.get, i32.const(4))),
      i32.or(
        i32.ne(i32.mod(v.year.get, i32.const(100)), zero),
        i32.isZero(i32.mod(v.year.get, i32.const(400))),
      ),
    );
    const isLeapDay = i32.and(
      i32.and(i32.eq(v.month.get, i32.const(2)), i32.eq(v.day.get, i32.const(29))),
      isLeap,
    );
    const isEarly = i32.le(v.month.get, i32.const(2));
    const daysBefore = i32.div(i32.add(i32.mul(i32.const(153), v.month.get), i32.const(2)), i32.const(5));
    const daysOfYears = i32.sub(
      i32.add(i32.mul(v.ofEra.get, i32.const(365)), i32.div(v.ofEra.get, i32.const(4))),
      i32.div(v.ofEra.get, i32.const(100)),
    );
    const daysOfEras = i32.mul(i32.div(v.year.get, i32.const(400)), i32.const(146_097));
    return sequence(
      when(i32.isZero(v.year.get), none),
      when(i32.gt(i32.sub(v.month.get, i32.const(1)), i32.const(11)), none),
      when(i32.isZero(v.day.get), none),
      when(i32.gt(v.day.get, i32.loadByte(v.month.get, monthDaysAt)), when(i32.isZero(isLeapDay), none)),
      // Years begin in March here, so that a leap day is the last day of its year.
      v.year.set(i32.sub(v.year.get, isEarly)),
      v.month.set(i32.mod(i32.add(v.month.get, i32.const(9)), i32.const(12))),
      v.ofEra.set(i32.mod(v.year.get, i32.const(400))),
      v.days.set(i32.add(daysBefore, i32.sub(v.day.get, i32.const(1)))),
      v.days.set(i32.add(v.days.get, daysOfYears)),
      i32.sub(i32.add(v.days.get, daysOfEras), i32.const(730_425)),
    );
  },
);

export const wordOf = (bytes: readonly number[]): bigint =>
  bytes.reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n);

/** Adding this to a byte sets the byte's top bit, unless the byte is 0 to 9. */
export const isDigit = 0x7f - 9;
const isNone = 0x7f;
const isPairs = wordOf([isDigit, isDigit, isNone, isDigit, isDigit, isNone, isDigit, isDigit]);
const topBits = i64.const(BigInt.asIntN(64, 0x8080808080808080n));

/** Parses three pairs of digits. Afterwards, bytes 0, 3 and 6 of the word are the numbers. */
export const takeThreePairs = (word: Local, separator: string, otherwise: Code): Code =>
  sequence(
    word.set(i64.xor(word.get, i64.const(wordOf([...Buffer.from(`00${separator}00${separator}00`)])))),
    when(
      i32.isZero(i64.isZero(i64.and(i64.or(word.get, i64.add(word.get, i64.const(isPairs))), topBits))),
      otherwise,
    ),
    word.set(i64.add(i64.mul(word.get, i64.const(10n)), i64.shr(word.get, i64.const(8n)))),
  );

export const wordByte = (word: Local, place: number): Code =>
  i32.and(i32.wrap(i64.shr(word.get, i64.const(BigInt(8 * place)))), i32.const(0xff));

/** (start) -> days of `YYYY-MM-DD`, or `noDay`. */
export const scanDay = functionOf(1, { start: 'i32', century: 'i32', word: 'i64' }, (v, call) => {
  const none = leaveWith(i32.const(noDay));
  return sequence(
    v.century.set(call('readTwo', v.start.get)),
    when(i32.eq(v.century.get, i32.const(-1)), none),
    v.word.set(i64.load(v.start.get, 2)),
    takeThreePairs(v.word, '-', none),
    call(
      'countDays',
      i32.add(i32.mul(v.century.get, i32.const(100)), wordByte(v.word, 0)),
      wordByte(v.word, 3),
      wordByte(v.word, 6),
    ),
  );
});
