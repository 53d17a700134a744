// Finds a record's fields, without quotes and blanks, and finds tokens: texts such as nulls.

import { SPACE, TAB } from '../../core/characters.ts';
import {
  choose,
  i32,
  i64,
  leaveWith,
  loopWhile,
  sequence,
  when,
  type Code,
  type Local,
} from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { slot } from './layouts.ts';
import { state } from './memory.ts';
import { hashFactor, token, tokenList } from './token-list.ts';
import { increase, zero } from './put-code.ts';

const isBlank = (address: Code): Code =>
  i32.or(i32.eq(i32.loadByte(address), i32.const(SPACE)), i32.eq(i32.loadByte(address), i32.const(TAB)));

const mayHaveBlanks = (start: Local, end: Local): Code =>
  i32.or(
    i32.le(i32.loadByte(start.get), i32.const(SPACE)),
    i32.le(i32.loadByte(i32.sub(end.get, i32.const(1))), i32.const(SPACE)),
  );

export const trimBlanks = (start: Local, end: Local): Code =>
  when(
    mayHaveBlanks(start, end),
    loopWhile(i32.and(i32.lt(start.get, end.get), isBlank(start.get)), increase(start, 1)),
    loopWhile(
      i32.and(i32.lt(start.get, end.get), isBlank(i32.sub(end.get, i32.const(1)))),
      increase(end, -1),
    ),
  );

/** Not 0 if some token of the list is as long as the field: rules out most fields. */
export const mayBeOneOf = (list: Local, start: Local, end: Local): Code => {
  const length = i32.sub(end.get, start.get);
  const bit = choose(i32.lt(length, i32.const(31)), length, i32.const(31));
  return i32.and(i32.shr(i32.load(list.get, tokenList.lengths), bit), i32.const(1));
};

export const flag = (address: number): Code => i32.load(zero, address);

/** (start, end, quote) -> end of a quoted field's content, after doubled quotes became one. */
export const takeOffDoubles = functionOf(
  3,
  { start: 'i32', end: 'i32', quote: 'i32', to: 'i32', byte: 'i32' },
  (v) => {
    const isQuote = i32.eq(v.byte.get, v.quote.get);
    return sequence(
      loopWhile(
        i32.and(i32.lt(v.start.get, v.end.get), i32.ne(i32.loadByte(v.start.get), v.quote.get)),
        increase(v.start, 1),
      ),
      v.to.set(v.start.get),
      loopWhile(
        i32.lt(v.start.get, v.end.get),
        v.byte.set(i32.loadByte(v.start.get)),
        i32.storeByte(v.to.get, 0, v.byte.get),
        increase(v.to, 1),
        v.start.set(i32.add(v.start.get, i32.add(i32.const(1), isQuote))),
      ),
      v.to.get,
    );
  },
);

/** (first, start, end) -> 0. Sets the slots of a record's fields. `first` is a list entry. */
export const placeFields = functionOf(
  3,
  {
    first: 'i32',
    start: 'i32',
    end: 'i32',
    slot: 'i32',
    slotsEnd: 'i32',
    quote: 'i32',
    last: 'i32',
    place: 'i32',
    width: 'i32',
    from: 'i32',
    to: 'i32',
    innerFrom: 'i32',
    innerTo: 'i32',
  },
  (v, call) => {
    const takeOffQuotes = sequence(
      when(flag(state.trimOutside), trimBlanks(v.from, v.to)),
      v.innerFrom.set(v.from.get),
      v.innerTo.set(v.to.get),
      when(flag(state.trim), trimBlanks(v.innerFrom, v.innerTo)),
      when(
        i32.and(i32.lt(v.innerFrom.get, v.innerTo.get), i32.eq(i32.loadByte(v.innerFrom.get), v.quote.get)),
        v.from.set(i32.add(v.innerFrom.get, i32.const(1))),
        v.to.set(call('takeOffDoubles', v.from.get, i32.sub(v.innerTo.get, i32.const(1)), v.quote.get)),
      ),
    );
    return sequence(
      v.slot.set(flag(state.slotsAt)),
      v.slotsEnd.set(flag(state.slotsEnd)),
      v.quote.set(flag(state.quote)),
      v.last.set(flag(state.between)),
      v.width.set(flag(state.delimiterBytes)),
      loopWhile(
        i32.lt(v.slot.get, v.slotsEnd.get),
        v.place.set(i32.load(v.slot.get, slot.place)),
        v.from.set(v.start.get),
        when(
          v.place.get,
          v.from.set(
            i32.add(i32.load(i32.sub(i32.add(v.first.get, v.place.get), i32.const(4))), v.width.get),
          ),
        ),
        v.to.set(v.end.get),
        when(i32.ne(v.place.get, v.last.get), v.to.set(i32.load(i32.add(v.first.get, v.place.get)))),
        when(i32.ne(v.quote.get, i32.const(-1)), takeOffQuotes),
        i32.store(v.slot.get, slot.start, v.from.get),
        i32.store(v.slot.get, slot.end, v.to.get),
        increase(v.slot, slot.bytes),
      ),
      zero,
    );
  },
);

export const findToken = functionOf(
  3,
  {
    list: 'i32',
    start: 'i32',
    end: 'i32',
    length: 'i32',
    place: 'i32',
    found: 'i32',
    text: 'i32',
    key: 'i64',
  },
  (v) => {
    const keyBits = i32.shl(v.length.get, i32.const(3));
    const keyStart = i32.sub(v.end.get, i32.const(8));
    const isSameByte = i32.eq(i32.loadByte(v.text.get), i32.loadByte(v.start.get));
    // The key contains only the last eight bytes, so this compares the bytes before them.
    const compareOthers = sequence(
      v.text.set(i32.load(v.found.get, token.at)),
      loopWhile(
        choose(i32.ltSigned(v.start.get, keyStart), isSameByte, zero),
        increase(v.start, 1),
        increase(v.text, 1),
      ),
      when(i32.geSigned(v.start.get, keyStart), leaveWith(v.found.get)),
      v.start.set(i32.sub(v.end.get, v.length.get)),
    );
    const isCandidate = i32.and(
      i32.eq(i32.load(v.found.get, token.length), v.length.get),
      i64.eq(i64.load(v.found.get, token.key), v.key.get),
    );
    const findSlot = v.found.set(
      i32.add(v.list.get, i32.add(i32.const(tokenList.first), i32.mul(v.place.get, i32.const(token.bytes)))),
    );
    return sequence(
      v.length.set(i32.sub(v.end.get, v.start.get)),
      when(
        v.length.get,
        v.key.set(i64.load(keyStart)),
        when(
          i32.lt(v.length.get, i32.const(8)),
          v.key.set(i64.shr(v.key.get, i64.sub(i64.const(64n), i64.extend(keyBits)))),
        ),
      ),
      v.place.set(
        i32.wrap(
          i64.shr(
            i64.mul(i64.add(v.key.get, i64.extend(v.length.get)), i64.const(BigInt.asIntN(64, hashFactor))),
            i64.extend(i32.load(v.list.get, tokenList.shift)),
          ),
        ),
      ),
      findSlot,
      loopWhile(
        i32.ne(i32.load(v.found.get, token.length), i32.const(-1)),
        when(isCandidate, compareOthers),
        v.place.set(
          i32.and(
            i32.add(v.place.get, i32.const(1)),
            i32.sub(i32.load(v.list.get, tokenList.slots), i32.const(1)),
          ),
        ),
        findSlot,
      ),
      zero,
    );
  },
);
