// Texts from bytes to values, in WebAssembly.

import { i32, sequence, when } from '../simd/wasm-code.ts';
import { functionOf } from '../simd/wasm-module.ts';
import { offsetOf } from './kinds.ts';
import { copyBytes, increase, notSure, putInt32 } from './put-code.ts';

/** (column, start, end, out) -> the address after the text, or 0 when it may be longer than the column takes. */
export const readText = functionOf(
  4,
  { column: 'i32', start: 'i32', end: 'i32', out: 'i32', length: 'i32', at: 'i32' },
  (v) =>
    sequence(
      v.length.set(i32.sub(v.end.get, v.start.get)),
      when(i32.gt(v.length.get, i32.load(v.column.get, offsetOf('text', 'bytesMax'))), notSure),
      putInt32(v.out, 0, v.length),
      increase(v.out, 4),
      copyBytes(v.out, v.start, v.length, v.at),
      i32.add(v.out.get, v.length.get),
    ),
);
