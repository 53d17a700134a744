// Finds delimiters of several bytes: keeps the found first bytes that the other bytes follow.

import { i32, loopWhile, sequence, when } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { flag } from './field-code.ts';
import { delimitersAt, state } from './memory.ts';
import { increase, zero } from './put-code.ts';

/** (end of the list) -> its new end. If two delimiters overlap, the first counts. */
export const keepDelimiters = functionOf(
  1,
  { end: 'i32', at: 'i32', to: 'i32', place: 'i32', free: 'i32', length: 'i32', same: 'i32' },
  (v) => {
    const isSame = i32.eq(
      i32.loadByte(i32.add(v.place.get, v.same.get)),
      i32.loadByte(i32.add(flag(state.delimiterAt), v.same.get)),
    );
    return sequence(
      v.at.set(i32.const(delimitersAt)),
      v.to.set(v.at.get),
      v.length.set(flag(state.delimiterBytes)),
      loopWhile(
        i32.lt(v.at.get, v.end.get),
        v.place.set(i32.load(v.at.get)),
        increase(v.at, 4),
        when(
          i32.ge(v.place.get, v.free.get),
          v.same.set(zero),
          loopWhile(i32.and(i32.lt(v.same.get, v.length.get), isSame), increase(v.same, 1)),
          when(
            i32.eq(v.same.get, v.length.get),
            i32.store(v.to.get, 0, v.place.get),
            increase(v.to, 4),
            v.free.set(i32.add(v.place.get, v.length.get)),
          ),
        ),
      ),
      i32.store(v.to.get, 0, i32.load(v.end.get)),
      v.to.get,
    );
  },
);
