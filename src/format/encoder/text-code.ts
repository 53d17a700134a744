// WebAssembly code for text values, and for COPY's text format.

import { i32, loopWhile, sequence, v128, when, whenElse, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { bitsBefore, codeOf } from './byte-code.ts';
import { offsetOf } from './kinds.ts';
import { copyBytes, increase, notSure, putInt32 } from './put-code.ts';

/** UTF-8 continuation bytes (10xxxxxx) are signed bytes below -64. */
const continuationsEnd = -64;

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  length: 'i32',
  characters: 'i32',
  at: 'i32',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const countCharacters = (v: Variables): Code => {
  const continuations = v128.bits(v128.ltSigned(v128.load(v.at.get), v128.all(continuationsEnd & 0xff)));
  return sequence(
    v.at.set(v.start.get),
    v.characters.set(v.length.get),
    loopWhile(
      i32.lt(v.at.get, v.end.get),
      v.characters.set(i32.sub(v.characters.get, i32.ones(i32.and(continuations, bitsBefore(v.at, v.end))))),
      increase(v.at, 16),
    ),
  );
};

export const readText = functionOf(4, variables, (v) => {
  const isLonger = (length: Local): Code =>
    i32.gt(length.get, i32.load(v.column.get, offsetOf('text', 'charactersMax')));
  return sequence(
    v.length.set(i32.sub(v.end.get, v.start.get)),
    when(isLonger(v.length), countCharacters(v), when(isLonger(v.characters), notSure)),
    putInt32(v.out, 0, v.length),
    increase(v.out, 4),
    copyBytes(v.out, v.start, v.length, v.at),
    i32.add(v.out.get, v.length.get),
  );
});

/** Bytes to escape, and the letter after the backslash. PostgreSQL, "COPY", Text Format. */
const escapes: readonly (readonly [string, string])[] = [
  ['\\', '\\'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\r', 'r'],
];

export const putCopyText = functionOf(
  3,
  { start: 'i32', end: 'i32', out: 'i32', byte: 'i32', stop: 'i32', bytes: 'v128' },
  (v) => {
    const found = escapes
      .map(([byte]) => v128.eq(v.bytes.get, v128.splat(i32.const(codeOf(byte)))))
      .reduce((left, right) => v128.or(left, right));
    const putByte = sequence(
      v.byte.set(i32.loadByte(v.start.get)),
      ...escapes.map(([byte, letter]) =>
        when(
          i32.eq(i32.loadByte(v.start.get), i32.const(codeOf(byte))),
          i32.storeByte(v.out.get, 0, i32.const(codeOf('\\'))),
          increase(v.out, 1),
          v.byte.set(i32.const(codeOf(letter))),
        ),
      ),
      i32.storeByte(v.out.get, 0, v.byte.get),
      increase(v.out, 1),
      increase(v.start, 1),
    );
    return sequence(
      loopWhile(
        i32.lt(v.start.get, v.end.get),
        v.bytes.set(v128.load(v.start.get)),
        whenElse(
          v128.isAny(found),
          sequence(
            v.stop.set(i32.add(v.start.get, i32.const(16))),
            loopWhile(i32.and(i32.lt(v.start.get, v.stop.get), i32.lt(v.start.get, v.end.get)), putByte),
          ),
          sequence(v128.store(v.out.get, 0, v.bytes.get), increase(v.start, 16), increase(v.out, 16)),
        ),
      ),
      // Moves back, because copying 16 bytes at a time may have gone beyond the end.
      when(i32.gt(v.start.get, v.end.get), v.out.set(i32.sub(v.out.get, i32.sub(v.start.get, v.end.get)))),
      v.out.get,
    );
  },
);
