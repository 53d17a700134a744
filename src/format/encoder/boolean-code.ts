// WebAssembly code for boolean.

import { i32, i64, sequence, when, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { offsetOf } from './kinds.ts';
import { token } from './token-list.ts';
import { notSure, putConstant } from './put-code.ts';

const trues = ['t', 'true', 'y', 'yes', 'on', '1'];
const falses = ['f', 'false', 'n', 'no', 'off', '0'];

const lengthMax = 5;

const packed = (word: string): Code => i64.const(Buffer.from(word.padEnd(8, '\0')).readBigInt64LE());

const isOneOfWords = (words: readonly string[], exact: Local, folded: Local): Code =>
  words
    .map((word) => i64.eq((/\d/.test(word) ? exact : folded).get, packed(word)))
    .reduce((left, right) => i32.or(left, right));

const parameters = { column: 'i32', start: 'i32', end: 'i32', out: 'i32' } as const;

const putByte = (out: Local, byte: Code): Code =>
  sequence(putConstant(out, 0, 1), i32.storeByte(out.get, 4, byte), i32.add(out.get, i32.const(5)));

export const readBoolean = functionOf(
  4,
  { ...parameters, length: 'i32', exact: 'i64', folded: 'i64', isTrue: 'i32' },
  (v) => {
    const mask = i64.sub(
      i64.shl(i64.const(1n), i64.extend(i32.shl(v.length.get, i32.const(3)))),
      i64.const(1n),
    );
    return sequence(
      v.length.set(i32.sub(v.end.get, v.start.get)),
      when(i32.gt(v.length.get, i32.const(lengthMax)), notSure),
      v.exact.set(i64.and(i64.load(v.start.get), mask)),
      v.folded.set(i64.or(v.exact.get, i64.and(mask, i64.const(0x2020202020202020n)))),
      v.isTrue.set(isOneOfWords(trues, v.exact, v.folded)),
      when(i32.isZero(i32.or(v.isTrue.get, isOneOfWords(falses, v.exact, v.folded))), notSure),
      putByte(v.out, v.isTrue.get),
    );
  },
);

export const readWord = functionOf(4, { ...parameters, found: 'i32', byte: 'i32' }, (v, call) =>
  sequence(
    v.byte.set(i32.load(v.column.get, offsetOf('word', 'other'))),
    v.found.set(call('findToken', i32.load(v.column.get, offsetOf('word', 'words')), v.start.get, v.end.get)),
    when(v.found.get, v.byte.set(i32.loadByte(i32.load(v.found.get, token.valueAt)))),
    when(i32.eq(v.byte.get, i32.const(-1)), notSure),
    putByte(v.out, v.byte.get),
  ),
);
