// WebAssembly code that tests single bytes.

import { choose, i32, sequence, type Code, type Local } from '../wasm-code.ts';

export const codeOf = (character: string): number => character.charCodeAt(0);

export const isByte = (at: Local, character: string): Code =>
  i32.eq(i32.loadByte(at.get), i32.const(codeOf(character)));

export const takeSign = (start: Local, isNegative: Local): Code =>
  sequence(
    isNegative.set(isByte(start, '-')),
    start.set(i32.add(start.get, i32.or(isNegative.get, isByte(start, '+')))),
  );

/** Returns a digit's value; more than nine if the byte is not a digit. */
export const digitAt = (at: Local): Code => i32.sub(i32.loadByte(at.get), i32.const(codeOf('0')));

export const isDigitBefore = (at: Local, end: Local): Code =>
  i32.and(i32.lt(at.get, end.get), i32.lt(digitAt(at), i32.const(10)));

export const bitsBefore = (at: Local, end: Local): Code => {
  const left = i32.sub(end.get, at.get);
  const count = choose(i32.lt(left, i32.const(16)), left, i32.const(16));
  return i32.sub(i32.shl(i32.const(1), count), i32.const(1));
};
