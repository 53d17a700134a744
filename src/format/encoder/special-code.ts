// WebAssembly code that recognizes NaN and infinity.

import { i32, i64, leaveWith, sequence, when, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { isByte } from './byte-code.ts';
import { notSure } from './put-code.ts';

export const special = { notANumber: 1, infinity: 2, negativeInfinity: 3 };

const variables = {
  start: 'i32',
  end: 'i32',
  sign: 'i32',
  negative: 'i32',
  length: 'i32',
  letters: 'i64',
} as const;

const isWord = (letters: Local, word: string): Code =>
  i64.eq(letters.get, i64.const(Buffer.from(word.padEnd(8, '\0')).readBigInt64LE()));

/** (start, end) -> one of `special`, or 0. Accepts any case, `inf`, and a sign of infinity. */
export const scanSpecial = functionOf(2, variables, (v) =>
  sequence(
    v.negative.set(isByte(v.start, '-')),
    v.sign.set(i32.or(v.negative.get, isByte(v.start, '+'))),
    v.start.set(i32.add(v.start.get, v.sign.get)),
    v.length.set(i32.sub(v.end.get, v.start.get)),
    v.letters.set(i64.or(i64.load(v.start.get), i64.const(0x2020202020202020n))),
    when(
      i32.eq(v.length.get, i32.const(3)),
      v.letters.set(i64.and(v.letters.get, i64.const(0xffffffn))),
      when(
        i32.and(isWord(v.letters, 'nan'), i32.isZero(v.sign.get)),
        leaveWith(i32.const(special.notANumber)),
      ),
      when(isWord(v.letters, 'inf'), leaveWith(i32.add(i32.const(special.infinity), v.negative.get))),
      notSure,
    ),
    when(
      i32.and(i32.eq(v.length.get, i32.const(8)), isWord(v.letters, 'infinity')),
      leaveWith(i32.add(i32.const(special.infinity), v.negative.get)),
    ),
    i32.const(0),
  ),
);
