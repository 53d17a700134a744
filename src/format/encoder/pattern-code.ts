// WebAssembly code for dates and times in a pattern such as M/D/YYYY.

import { ZERO } from '../../core/characters.ts';
import {
  choose,
  i32,
  i64,
  leaveWith,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { secondsEastOf, takenOf } from './clock-code.ts';
import { isDigit, noDay } from './day-code.ts';
import { offsetOf } from './kinds.ts';
import { monthNamesAt, partsAt, wholePowersAt } from './memory.ts';
import { part, patternStep, reads, writes } from './pattern-steps.ts';
import { increase, notSure, putConstant, putInt32, unless, zero } from './put-code.ts';

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  step: 'i32',
  reads: 'i32',
  needs: 'i32',
  value: 'i32',
  more: 'i32',
  next: 'i32',
  hour: 'i32',
  days: 'i32',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const partOf = (offset: number): Code => i32.load(zero, partsAt + offset);
const setPart = (offset: number, value: Code): Code => i32.store(zero, partsAt + offset, value);

const takeByte = (v: Variables): Code =>
  sequence(unless(i32.eq(i32.loadByte(v.start.get), v.needs.get)), increase(v.start, 1));

const takeOneOrTwo = (v: Variables): Code =>
  sequence(
    v.value.set(i32.sub(i32.loadByte(v.start.get), i32.const(ZERO))),
    unless(i32.lt(v.value.get, i32.const(10))),
    v.more.set(i32.sub(i32.loadByte(v.start.get, 1), i32.const(ZERO))),
    increase(v.start, 1),
    when(
      i32.and(i32.lt(v.more.get, i32.const(10)), i32.lt(v.start.get, v.end.get)),
      v.value.set(i32.add(i32.mul(v.value.get, i32.const(10)), v.more.get)),
      increase(v.start, 1),
    ),
    i32.store(v.needs.get, partsAt, v.value.get),
  );

const byteOf = (value: Local, place: number): Code =>
  i32.and(i32.shr(value.get, i32.const(8 * place)), i32.const(0xff));

/** Parses pairs of digits. Afterwards, bytes 0 and 2 of `value` are the numbers. */
const takeDigitPairs = (v: Variables, digits: number): Code => {
  const each = (byte: number): Code => i32.const((byte * (digits === 2 ? 0x0101 : 0x01010101)) | 0);
  return sequence(
    v.value.set(i32.xor(v.value.get, each(ZERO))),
    when(i32.and(i32.or(v.value.get, i32.add(v.value.get, each(isDigit))), each(0x80)), notSure),
    v.value.set(i32.add(i32.mul(v.value.get, i32.const(10)), i32.shr(v.value.get, i32.const(8)))),
    increase(v.start, digits),
  );
};

const takeTwo = (v: Variables): Code =>
  sequence(
    v.value.set(i32.loadShort(v.start.get)),
    takeDigitPairs(v, 2),
    i32.store(v.needs.get, partsAt, byteOf(v.value, 0)),
  );

const takeFour = (v: Variables): Code =>
  sequence(
    v.value.set(i32.load(v.start.get)),
    takeDigitPairs(v, 4),
    i32.store(v.needs.get, partsAt, i32.add(i32.mul(byteOf(v.value, 0), i32.const(100)), byteOf(v.value, 2))),
  );

/** POSIX reads 69 to 99 as 1969 to 1999, and 00 to 68 as 2000 to 2068. */
const takeShortYear = (v: Variables): Code => {
  const century = choose(i32.lt(byteOf(v.value, 0), i32.const(69)), i32.const(2000), i32.const(1900));
  return sequence(
    v.value.set(i32.loadShort(v.start.get)),
    takeDigitPairs(v, 2),
    setPart(part.year, i32.add(byteOf(v.value, 0), century)),
  );
};

const lowerCase = (letters: number): number => 0x202020 & ((1 << (8 * letters)) - 1);

const takeMonthName = (v: Variables): Code =>
  sequence(
    v.value.set(i32.or(i32.and(i32.load(v.start.get), i32.const(0xffffff)), i32.const(lowerCase(3)))),
    v.more.set(zero),
    loopWhile(
      i32.ne(i32.load(i32.shl(v.more.get, i32.const(2)), monthNamesAt), v.value.get),
      increase(v.more, 1),
      when(i32.eq(v.more.get, i32.const(12)), notSure),
    ),
    setPart(part.month, i32.add(v.more.get, i32.const(1))),
    increase(v.start, 3),
  );

const takeHalf = (v: Variables): Code => {
  const is = (half: string): Code => i32.eq(v.value.get, i32.const(Buffer.from(half).readUInt16LE()));
  return sequence(
    v.value.set(i32.or(i32.loadShort(v.start.get), i32.const(lowerCase(2)))),
    v.more.set(i32.add(is('am'), i32.shl(is('pm'), i32.const(1)))),
    unless(v.more.get),
    setPart(part.half, v.more.get),
    increase(v.start, 2),
  );
};

const takeFraction = (v: Variables, call: Call): Code => {
  const missing = i32.shl(i32.sub(i32.const(6), v.needs.get), i32.const(3));
  return sequence(
    v.value.set(call('readDigits', v.start.get, v.needs.get)),
    when(i32.eq(v.value.get, i32.const(-1)), notSure),
    v.start.set(i32.add(v.start.get, v.needs.get)),
    setPart(part.fraction, i32.mul(v.value.get, i32.load(missing, wholePowersAt))),
  );
};

const takeOffset = (v: Variables, call: Call): Code =>
  sequence(
    v.value.set(call('scanOffset', v.start.get, v.end.get)),
    when(i32.eq(v.value.get, i32.const(-1)), notSure),
    v.start.set(i32.add(v.start.get, takenOf(v.value.get))),
    setPart(part.offset, secondsEastOf(v.value)),
  );

/** Takes the steps of a pattern. The last line detects a step that read beyond the field. */
const takeSteps = (v: Variables, call: Call): Code => {
  const steps: readonly (readonly [number, Code])[] = [
    [reads.two, takeTwo(v)],
    [reads.oneOrTwo, takeOneOrTwo(v)],
    [reads.four, takeFour(v)],
    [reads.byte, takeByte(v)],
    [reads.monthName, takeMonthName(v)],
    [reads.half, takeHalf(v)],
    [reads.fraction, takeFraction(v, call)],
    [reads.offset, takeOffset(v, call)],
  ];
  return sequence(
    v.step.set(i32.load(v.column.get, offsetOf('pattern', 'steps'))),
    v.reads.set(i32.load(v.step.get, patternStep.reads)),
    loopWhile(
      v.reads.get,
      v.needs.set(i32.load(v.step.get, patternStep.needs)),
      steps.reduceRight(
        (others, [number, take]) => whenElse(i32.eq(v.reads.get, i32.const(number)), take, others),
        takeShortYear(v),
      ),
      v.next.set(i32.load(v.step.get, patternStep.next)),
      when(v.next.get, unless(i32.eq(i32.loadByte(v.start.get), v.next.get)), increase(v.start, 1)),
      increase(v.step, patternStep.bytes),
      v.reads.set(i32.load(v.step.get, patternStep.reads)),
    ),
    unless(i32.eq(v.start.get, v.end.get)),
  );
};

const takeHour = (v: Variables): Code =>
  sequence(
    v.hour.set(partOf(part.hour)),
    when(
      partOf(part.half),
      when(i32.gt(i32.sub(v.hour.get, i32.const(1)), i32.const(11)), notSure),
      v.hour.set(
        i32.add(
          i32.mod(v.hour.get, i32.const(12)),
          choose(i32.eq(partOf(part.half), i32.const(2)), i32.const(12), zero),
        ),
      ),
    ),
    unless(i32.lt(v.hour.get, i32.const(24))),
    unless(i32.lt(partOf(part.minute), i32.const(60))),
    unless(i32.lt(partOf(part.second), i32.const(60))),
  );

export const readPattern = functionOf(4, variables, (v, call) => {
  const writesOnly = (type: number): Code =>
    i32.eq(i32.load(v.column.get, offsetOf('pattern', 'writes')), i32.const(type));
  const seconds = i32.add(
    i32.add(i32.mul(v.hour.get, i32.const(3600)), i32.mul(partOf(part.minute), i32.const(60))),
    partOf(part.second),
  );
  const microseconds = i64.add(
    i64.mul(i64.extend(seconds), i64.const(1_000_000n)),
    i64.extend(partOf(part.fraction)),
  );
  return sequence(
    ...[part.hour, part.minute, part.second, part.fraction, part.half].map((each) => setPart(each, zero)),
    setPart(part.offset, i32.load(v.column.get, offsetOf('pattern', 'zone'))),
    takeSteps(v, call),
    when(
      i32.isZero(writesOnly(writes.time)),
      v.days.set(call('countDays', partOf(part.year), partOf(part.month), partOf(part.day))),
      when(i32.eq(v.days.get, i32.const(noDay)), notSure),
    ),
    takeHour(v),
    when(writesOnly(writes.date), unless(i64.isZero(microseconds))),
    whenElse(
      i32.or(writesOnly(writes.date), writesOnly(writes.dayOfMoment)),
      sequence(
        putConstant(v.out, 0, 4),
        putInt32(v.out, 4, v.days),
        v.out.set(i32.add(v.out.get, i32.const(8))),
      ),
      v.out.set(call('putMoment', v.out.get, v.days.get, partOf(part.offset), microseconds)),
    ),
    v.out.get,
  );
});

/** (column, start, end, out) -> address after the value, or 0 if no pattern reads the text. */
export const readPatterns = functionOf(
  4,
  { column: 'i32', start: 'i32', end: 'i32', out: 'i32', pattern: 'i32', at: 'i32' },
  (v, call) =>
    sequence(
      v.pattern.set(i32.load(v.column.get, offsetOf('patterns', 'list'))),
      loopWhile(
        i32.load(v.pattern.get),
        i32.store(v.column.get, offsetOf('pattern', 'steps'), i32.add(v.pattern.get, i32.const(4))),
        v.at.set(call('readPattern', v.column.get, v.start.get, v.end.get, v.out.get)),
        when(v.at.get, leaveWith(v.at.get)),
        v.pattern.set(i32.add(i32.add(v.pattern.get, i32.const(4)), i32.load(v.pattern.get))),
      ),
      zero,
    ),
);
