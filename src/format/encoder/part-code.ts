// Finds the end of strings and numbers in JSON. 0 means that JavaScript must decide.

import { i32, loopWhile, sequence, v128, when, whenElse, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { codeOf, digitAt, isByte, isDigitBefore } from './byte-code.ts';
import { increase, notSure, zero } from './put-code.ts';

/** jsonb can store any number of up to 1,000 bytes with an exponent of up to three digits. */
const jsonNumberBytesMax = 1_000;
const exponentDigitsMax = 3;

export const isOneOfCharacters = (byte: Local, characters: string): Code =>
  [...characters]
    .map((character) => i32.eq(byte.get, i32.const(codeOf(character))))
    .reduce((left, right) => i32.or(left, right));

const text = {
  at: 'i32',
  end: 'i32',
  isBinary: 'i32',
  bits: 'i32',
  byte: 'i32',
  unit: 'i32',
  count: 'i32',
  other: 'i32',
  bytes: 'v128',
} as const;
type Text = Readonly<Record<keyof typeof text, Local>>;

const skipPlain = (v: Text): Code => {
  const special = [
    v128.eq(v.bytes.get, v128.all(codeOf('"'))),
    v128.eq(v.bytes.get, v128.all(codeOf('\\'))),
    v128.lt(v.bytes.get, v128.all(0x20)),
  ].reduce((left, right) => v128.or(left, right));
  const look = sequence(v.bytes.set(v128.load(v.at.get)), v.bits.set(v128.bits(special)));
  return sequence(
    look,
    loopWhile(i32.isZero(v.bits.get), increase(v.at, 16), when(i32.ge(v.at.get, v.end.get), notSure), look),
    v.at.set(i32.add(v.at.get, i32.trailingZeros(v.bits.get))),
    v.byte.set(i32.loadByte(v.at.get)),
  );
};

const readUnit = (v: Text): Code =>
  sequence(
    v.unit.set(zero),
    v.count.set(i32.const(4)),
    loopWhile(
      v.count.get,
      v.byte.set(digitAt(v.at)),
      when(
        i32.gt(v.byte.get, i32.const(9)),
        v.byte.set(i32.sub(i32.or(i32.loadByte(v.at.get), i32.const(0x20)), i32.const(codeOf('a')))),
        when(i32.gt(v.byte.get, i32.const(5)), notSure),
        increase(v.byte, 10),
      ),
      v.unit.set(i32.or(i32.shl(v.unit.get, i32.const(4)), v.byte.get)),
      increase(v.at, 1),
      increase(v.count, -1),
    ),
  );

const isSurrogate = (v: Text, first: number): Code =>
  i32.eq(i32.and(v.unit.get, i32.const(0xfc00)), i32.const(first));

/** jsonb stores neither NUL nor an unpaired surrogate. */
const checkUnit = (v: Text): Code =>
  sequence(
    when(i32.isZero(v.unit.get), notSure),
    when(isSurrogate(v, 0xdc00), notSure),
    when(
      isSurrogate(v, 0xd800),
      when(
        i32.isZero(i32.and(isByte(v.at, '\\'), i32.eq(i32.loadByte(v.at.get, 1), i32.const(codeOf('u'))))),
        notSure,
      ),
      increase(v.at, 2),
      readUnit(v),
      when(i32.isZero(isSurrogate(v, 0xdc00)), notSure),
    ),
  );

const skipEscape = (v: Text): Code =>
  sequence(
    v.byte.set(i32.loadByte(v.at.get, 1)),
    increase(v.at, 2),
    whenElse(
      i32.eq(v.byte.get, i32.const(codeOf('u'))),
      sequence(readUnit(v), when(v.isBinary.get, checkUnit(v))),
      when(i32.isZero(isOneOfCharacters(v.byte, '"\\/bfnrt')), notSure),
    ),
  );

export const afterString = functionOf(3, text, (v) =>
  sequence(
    increase(v.at, 1),
    skipPlain(v),
    loopWhile(
      i32.eq(v.byte.get, i32.const(codeOf('\\'))),
      skipEscape(v),
      when(i32.ge(v.at.get, v.end.get), notSure),
      skipPlain(v),
    ),
    when(i32.ne(v.byte.get, i32.const(codeOf('"'))), notSure),
    i32.add(v.at.get, i32.const(1)),
  ),
);

const number = { at: 'i32', end: 'i32', start: 'i32', from: 'i32', byte: 'i32' } as const;
type NumberCode = Readonly<Record<keyof typeof number, Local>>;

const skipDigits = (v: NumberCode): Code =>
  sequence(
    v.from.set(v.at.get),
    loopWhile(isDigitBefore(v.at, v.end), increase(v.at, 1)),
    when(i32.eq(v.at.get, v.from.get), notSure),
  );

const skipExponent = (v: NumberCode): Code =>
  sequence(
    increase(v.at, 1),
    v.byte.set(i32.loadByte(v.at.get)),
    v.at.set(i32.add(v.at.get, isOneOfCharacters(v.byte, '+-'))),
    skipDigits(v),
    when(i32.gt(i32.sub(v.at.get, v.from.get), i32.const(exponentDigitsMax)), notSure),
  );

export const afterNumber = functionOf(2, number, (v) =>
  sequence(
    v.start.set(v.at.get),
    v.at.set(i32.add(v.at.get, isByte(v.at, '-'))),
    skipDigits(v),
    when(i32.and(isByte(v.from, '0'), i32.ne(i32.sub(v.at.get, v.from.get), i32.const(1))), notSure),
    when(i32.and(i32.lt(v.at.get, v.end.get), isByte(v.at, '.')), increase(v.at, 1), skipDigits(v)),
    when(
      i32.and(
        i32.lt(v.at.get, v.end.get),
        i32.eq(i32.or(i32.loadByte(v.at.get), i32.const(0x20)), i32.const(codeOf('e'))),
      ),
      skipExponent(v),
    ),
    when(i32.gt(i32.sub(v.at.get, v.start.get), i32.const(jsonNumberBytesMax)), notSure),
    v.at.get,
  ),
);
