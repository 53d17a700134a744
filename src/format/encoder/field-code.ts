// Where the wanted fields of a record stand, quotes and blanks taken off, and whether one is a token, in WebAssembly.

import {
  choose,
  i32,
  leaveWith,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../simd/wasm-code.ts';
import { functionOf } from '../simd/wasm-module.ts';
import { slot, state, token, tokenList } from './memory.ts';
import { increase, zero } from './put-code.ts';

const SPACE = 32;
const TAB = 9;

const isBlank = (address: Code): Code =>
  i32.or(i32.eq(i32.loadByte(address), i32.const(SPACE)), i32.eq(i32.loadByte(address), i32.const(TAB)));

/** No blank or tab is at either end, nor at the byte before an empty field: nearly always, and found with one branch. */
const mayHaveBlanks = (start: Local, end: Local): Code =>
  i32.or(
    i32.le(i32.loadByte(start.get), i32.const(SPACE)),
    i32.le(i32.loadByte(i32.sub(end.get, i32.const(1))), i32.const(SPACE)),
  );

/** Moves both ends of a field inward over blanks and tabs. */
export const trimBlanks = (start: Local, end: Local): Code =>
  when(
    mayHaveBlanks(start, end),
    loopWhile(i32.and(i32.lt(start.get, end.get), isBlank(start.get)), increase(start, 1)),
    loopWhile(
      i32.and(i32.lt(start.get, end.get), isBlank(i32.sub(end.get, i32.const(1)))),
      increase(end, -1),
    ),
  );

/** Not 0 when a token of the list is as long as the field: most fields have a length that none has. */
export const mayBeOneOf = (list: Local, start: Local, end: Local): Code => {
  const length = i32.sub(end.get, start.get);
  const bit = choose(i32.lt(length, i32.const(31)), length, i32.const(31));
  return i32.and(i32.shr(i32.load(list.get, tokenList.lengths), bit), i32.const(1));
};

export const flag = (address: number): Code => i32.load(zero, address);

/** (start, end, quote) -> the end of a quoted field's content once each doubled quote in it is one. */
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

/** (first, start, end) -> 0: sets the slots of the record whose first delimiter is at `first` of the list. */
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
      loopWhile(
        i32.lt(v.slot.get, v.slotsEnd.get),
        v.place.set(i32.load(v.slot.get, slot.place)),
        v.from.set(v.start.get),
        when(
          v.place.get,
          v.from.set(
            i32.add(i32.load(i32.sub(i32.add(v.first.get, v.place.get), i32.const(4))), i32.const(1)),
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

/** (list, start, end) -> the address of the list's token that the bytes are, or 0. */
export const findToken = functionOf(
  3,
  {
    list: 'i32',
    start: 'i32',
    end: 'i32',
    count: 'i32',
    length: 'i32',
    text: 'i32',
    at: 'i32',
  },
  (v) => {
    const isSame = i32.eq(
      i32.loadByte(i32.add(v.text.get, v.at.get)),
      i32.loadByte(i32.add(v.start.get, v.at.get)),
    );
    const compare = sequence(
      v.text.set(i32.load(v.list.get, tokenList.first + token.at)),
      v.at.set(zero),
      loopWhile(i32.and(i32.lt(v.at.get, v.length.get), isSame), increase(v.at, 1)),
      when(i32.eq(v.at.get, v.length.get), leaveWith(i32.add(v.list.get, i32.const(tokenList.first)))),
    );
    return sequence(
      v.length.set(i32.sub(v.end.get, v.start.get)),
      v.count.set(i32.load(v.list.get, tokenList.count)),
      loopWhile(
        v.count.get,
        whenElse(i32.eq(i32.load(v.list.get, tokenList.first + token.length), v.length.get), compare, []),
        increase(v.list, token.bytes),
        increase(v.count, -1),
      ),
      zero,
    );
  },
);
