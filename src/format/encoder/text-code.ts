// Texts from bytes to values, in WebAssembly. Their bytes are whole characters of UTF-8: others never get here.

import { i32, loopWhile, sequence, v128, when } from '../simd/wasm-code.ts';
import { functionOf } from '../simd/wasm-module.ts';
import { bitsBefore } from './byte-code.ts';
import { offsetOf } from './kinds.ts';
import { copyBytes, increase, notSure, putInt32 } from './put-code.ts';

/** The first byte of a character is not one of these: 10xxxxxx, as a number with a sign below this one. */
const continuationsEnd = -64;

/** (start, end) -> how many characters the bytes are. */
export const countCharacters = functionOf(2, { start: 'i32', end: 'i32', count: 'i32' }, (v) => {
  const continuations = v128.bits(v128.ltSigned(v128.load(v.start.get), v128.all(continuationsEnd & 0xff)));
  return sequence(
    v.count.set(i32.sub(v.end.get, v.start.get)),
    loopWhile(
      i32.lt(v.start.get, v.end.get),
      v.count.set(i32.sub(v.count.get, i32.ones(i32.and(continuations, bitsBefore(v.start, v.end))))),
      increase(v.start, 16),
    ),
    v.count.get,
  );
});

/** (column, start, end, out) -> the address after the text, or 0 when it is longer than the column takes. */
export const readText = functionOf(
  4,
  { column: 'i32', start: 'i32', end: 'i32', out: 'i32', length: 'i32', most: 'i32', at: 'i32' },
  (v, call) =>
    sequence(
      v.length.set(i32.sub(v.end.get, v.start.get)),
      v.most.set(i32.load(v.column.get, offsetOf('text', 'charactersMax'))),
      // A text has no more characters than bytes.
      when(
        i32.gt(v.length.get, v.most.get),
        when(i32.gt(call('countCharacters', v.start.get, v.end.get), v.most.get), notSure),
      ),
      putInt32(v.out, 0, v.length),
      increase(v.out, 4),
      copyBytes(v.out, v.start, v.length, v.at),
      i32.add(v.out.get, v.length.get),
    ),
);
