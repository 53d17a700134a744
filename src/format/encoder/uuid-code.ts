// WebAssembly code for uuid, 16 digits at a time.

import { i32, sequence, v128, when, whenElse, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { increase, notSure, putConstant } from './put-code.ts';

const bareLength = 32;
const hyphenatedLength = 36;
const bracedLength = 38;

const hyphens = [8, 13, 18, 23];

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  length: 'i32',
  first: 'v128',
  last: 'v128',
  letters: 'v128',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const differs = (byte: Code, character: string): Code => i32.sub(byte, i32.const(character.charCodeAt(0)));

const openBraces = (v: Variables): Code =>
  sequence(
    when(differs(i32.loadByte(v.start.get, 0), '{'), notSure),
    when(differs(i32.loadByte(v.start.get, bracedLength - 1), '}'), notSure),
    increase(v.start, 1),
    v.length.set(i32.const(hyphenatedLength)),
  );

const places = (from: number, to: number, begin: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index - begin);

const loadHyphenated = (v: Variables): Code => {
  const bytesFrom = (offset: number): Code => v128.load(v.start.get, offset);
  const allHyphens = hyphens
    .map((place) => differs(i32.loadByte(v.start.get, place), '-'))
    .reduce((left, right) => i32.or(left, right));
  return sequence(
    when(allHyphens, notSure),
    v.first.set(
      v128.shuffle(bytesFrom(0), bytesFrom(16), [
        ...places(0, 8, 0),
        ...places(9, 13, 0),
        ...places(14, 18, 0),
      ]),
    ),
    // The right operand begins at byte 20, and shuffle counts its bytes from 16.
    v.last.set(
      v128.shuffle(bytesFrom(16), bytesFrom(20), [...places(19, 23, 16), ...places(24, 36, 20 - 16)]),
    ),
  );
};

const takeDigits = (v: Variables, digits: Local): Code => {
  const isDigit = v128.lt(v128.sub(digits.get, v128.all(0x30)), v128.all(10));
  const isLetter = v128.lt(v128.sub(v128.or(digits.get, v128.all(0x20)), v128.all(0x61)), v128.all(6));
  return sequence(
    v.letters.set(isLetter),
    when(i32.isZero(v128.isAll(v128.or(isDigit, v.letters.get))), notSure),
    // The low bits of the letters a to f are 1 to 6.
    digits.set(v128.add(v128.and(digits.get, v128.all(0x0f)), v128.and(v.letters.get, v128.all(9)))),
  );
};

const pairs = (values: Local): Code =>
  v128.and(
    v128.or(v128.shl16(values.get, i32.const(4)), v128.shr16(values.get, i32.const(8))),
    v128.const(Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? 0xff : 0))),
  );

export const readUuid = functionOf(4, variables, (v) =>
  sequence(
    v.length.set(i32.sub(v.end.get, v.start.get)),
    when(i32.eq(v.length.get, i32.const(bracedLength)), openBraces(v)),
    whenElse(
      i32.eq(v.length.get, i32.const(hyphenatedLength)),
      loadHyphenated(v),
      sequence(
        when(i32.ne(v.length.get, i32.const(bareLength)), notSure),
        v.first.set(v128.load(v.start.get)),
        v.last.set(v128.load(v.start.get, 16)),
      ),
    ),
    takeDigits(v, v.first),
    takeDigits(v, v.last),
    putConstant(v.out, 0, 16),
    v128.store(v.out.get, 4, v128.narrow16(pairs(v.first), pairs(v.last))),
    i32.add(v.out.get, i32.const(20)),
  ),
);
