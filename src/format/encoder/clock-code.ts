// WebAssembly code for times of day and offsets from UTC.

import { COLON, LETTER_Z, MINUS, PLUS, POINT, ZERO } from '../../core/characters.ts';
import {
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
import { functionOf } from '../wasm-module.ts';
import { wordByte, isDigit, takeThreePairs, wordOf } from './day-code.ts';
import { zero } from './put-code.ts';

/** (word `HH:mm:ss`) -> seconds since midnight, or -1. */
export const scanClock = functionOf(1, { word: 'i64' }, (v) => {
  const none = leaveWith(i32.const(-1));
  const seconds = i32.add(i32.mul(wordByte(v.word, 3), i32.const(60)), wordByte(v.word, 6));
  return sequence(
    takeThreePairs(v.word, ':', none),
    when(i32.ge(wordByte(v.word, 0), i32.const(24)), none),
    when(i32.ge(wordByte(v.word, 3), i32.const(60)), none),
    when(i32.ge(wordByte(v.word, 6), i32.const(60)), none),
    i32.add(i32.mul(wordByte(v.word, 0), i32.const(3600)), seconds),
  );
});

const filledUp = (word: Code, bytes: number, characters: string): Code =>
  i64.or(
    i64.and(word, i64.const((1n << BigInt(8 * bytes)) - 1n)),
    i64.const(wordOf([...Buffer.alloc(bytes), ...Buffer.from(characters)])),
  );

const loadUpTo = (word: Local, start: Code, end: Local): Code =>
  sequence(
    word.set(i64.load(start)),
    when(
      i32.lt(i32.sub(end.get, start), i32.const(8)),
      word.set(
        i64.and(
          word.get,
          i64.sub(
            i64.shl(i64.const(1n), i64.extend(i32.shl(i32.sub(end.get, start), i32.const(3)))),
            i64.const(1n),
          ),
        ),
      ),
    ),
  );

/** `scanTime` and `scanOffset` return two numbers in one: bytes read (lowest bits), and a value. */
const takenBits = 5;
export const takenOf = (scanned: Code): Code => i32.and(scanned, i32.const((1 << takenBits) - 1));
/** Added to offsets, which are shorter than 16 hours, to make them nonnegative. */
const offsetBias = 16 * 3600;
export const microsecondsOf = (scanned: Local): Code => i64.shr(scanned.get, i64.const(BigInt(takenBits)));
export const secondsEastOf = (scanned: Local): Code =>
  i32.sub(i32.shr(scanned.get, i32.const(takenBits)), i32.const(offsetBias));

const takeIsoFraction = (v: {
  readonly start: Local;
  readonly end: Local;
  readonly taken: Local;
  readonly word: Local;
  readonly found: Local;
  readonly micros: Local;
}): Code => {
  const digitsMax = 6;
  const digitsOf = (digit: number): bigint => wordOf(Array.from({ length: digitsMax }, () => digit));
  return sequence(
    loadUpTo(v.word, i32.add(v.start.get, i32.const(9)), v.end),
    v.word.set(i64.xor(v.word.get, i64.const(digitsOf(ZERO)))),
    v.found.set(
      i64.or(
        i64.and(
          i64.or(v.word.get, i64.add(v.word.get, i64.const(digitsOf(isDigit)))),
          i64.const(digitsOf(0x80)),
        ),
        i64.const(1n << BigInt(8 * digitsMax + 7)),
      ),
    ),
    v.found.set(i64.sub(i64.trailingZeros(v.found.get), i64.const(7n))),
    when(i64.isZero(v.found.get), leaveWith(i64.const(-1n))),
    v.word.set(i64.and(v.word.get, i64.sub(i64.shl(i64.const(1n), v.found.get), i64.const(1n)))),
    v.word.set(i64.add(i64.mul(v.word.get, i64.const(10n)), i64.shr(v.word.get, i64.const(8n)))),
    v.micros.set(
      i32.add(
        i32.add(
          i32.mul(wordByte(v.word, 0), i32.const(10_000)),
          i32.mul(wordByte(v.word, 2), i32.const(100)),
        ),
        wordByte(v.word, 4),
      ),
    ),
    v.taken.set(i32.add(i32.const(9), i32.wrap(i64.shr(v.found.get, i64.const(3n))))),
    when(
      i32.eq(v.taken.get, i32.const(9 + digitsMax)),
      loopWhile(
        i32.and(
          i32.and(
            i32.lt(i32.add(v.start.get, v.taken.get), v.end.get),
            i32.lt(v.taken.get, i32.const((1 << takenBits) - 1)),
          ),
          i32.eq(i32.loadByte(i32.add(v.start.get, v.taken.get)), i32.const(ZERO)),
        ),
        v.taken.set(i32.add(v.taken.get, i32.const(1))),
      ),
    ),
  );
};

/** (start, end) -> microseconds of `HH:mm[:ss[.ffffff]]` and the bytes read, or -1. */
export const scanTime = functionOf(
  2,
  { start: 'i32', end: 'i32', seconds: 'i32', taken: 'i32', micros: 'i32', word: 'i64', found: 'i64' },
  (v, call) =>
    sequence(
      loadUpTo(v.word, v.start.get, v.end),
      v.taken.set(i32.const(8)),
      when(
        i32.ne(wordByte(v.word, 5), i32.const(COLON)),
        v.taken.set(i32.const(5)),
        v.word.set(filledUp(v.word.get, 5, ':00')),
      ),
      v.seconds.set(call('scanClock', v.word.get)),
      when(i32.eq(v.seconds.get, i32.const(-1)), leaveWith(i64.const(-1n))),
      when(
        i32.and(
          i32.gt(i32.sub(v.end.get, v.start.get), i32.const(8)),
          i32.and(i32.eq(v.taken.get, i32.const(8)), i32.eq(i32.loadByte(v.start.get, 8), i32.const(POINT))),
        ),
        takeIsoFraction(v),
      ),
      i64.or(
        i64.shl(
          i64.add(i64.mul(i64.extend(v.seconds.get), i64.const(1_000_000n)), i64.extend(v.micros.get)),
          i64.const(BigInt(takenBits)),
        ),
        i64.extend(v.taken.get),
      ),
    ),
  'i64',
);

/** (start, end) -> seconds of `Z`, `±HH[[:]mm]` or `±HH:mm:ss` and the bytes read, or -1. */
export const scanOffset = functionOf(
  2,
  { start: 'i32', end: 'i32', first: 'i32', taken: 'i32', seconds: 'i32', word: 'i64' },
  (v, call) => {
    const none = leaveWith(i32.const(-1));
    const result = (seconds: Code, taken: Code): Code =>
      i32.or(i32.shl(i32.add(seconds, i32.const(offsetBias)), i32.const(takenBits)), taken);
    const withoutColon = i64.or(
      i64.and(v.word.get, i64.const(0xffffn)),
      i64.shl(i64.and(v.word.get, i64.const(0xffff0000n)), i64.const(8n)),
    );
    return sequence(
      when(i32.ge(v.start.get, v.end.get), none),
      v.first.set(i32.loadByte(v.start.get)),
      when(i32.eq(v.first.get, i32.const(LETTER_Z)), leaveWith(result(zero, i32.const(1)))),
      when(i32.and(i32.ne(v.first.get, i32.const(PLUS)), i32.ne(v.first.get, i32.const(MINUS))), none),
      loadUpTo(v.word, i32.add(v.start.get, i32.const(1)), v.end),
      v.taken.set(i32.const(9)),
      when(
        i32.ne(wordByte(v.word, 5), i32.const(COLON)),
        v.taken.set(i32.const(6)),
        v.word.set(filledUp(v.word.get, 5, ':00')),
      ),
      when(
        i32.ne(wordByte(v.word, 2), i32.const(COLON)),
        whenElse(
          i32.lt(i32.sub(wordByte(v.word, 2), i32.const(ZERO)), i32.const(10)),
          sequence(
            v.taken.set(i32.const(5)),
            v.word.set(i64.or(withoutColon, i64.const(wordOf([0, 0, COLON, 0, 0, COLON, ZERO, ZERO])))),
          ),
          sequence(v.taken.set(i32.const(3)), v.word.set(filledUp(v.word.get, 2, ':00:00'))),
        ),
      ),
      v.seconds.set(call('scanClock', v.word.get)),
      when(i32.ge(v.seconds.get, i32.const(offsetBias)), none),
      when(i32.eq(v.first.get, i32.const(MINUS)), v.seconds.set(i32.sub(zero, v.seconds.get))),
      result(v.seconds.get, v.taken.get),
    );
  },
);
