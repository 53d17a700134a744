// The row routine: turns up to 64 KiB of records into rows for COPY, column by column.

import { LF, TAB } from '../../core/characters.ts';
import {
  drop,
  i32,
  leaveWith,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { flag } from './field-code.ts';
import { columnBytes } from './kinds.ts';
import { increase, zero } from './put-code.ts';
import { delimitersAt, endsAt, outEnd, startsAt, state, stopped, textAt, wanted } from './memory.ts';

const variables = {
  record: 'i32',
  records: 'i32',
  shift: 'i32',
  textEnd: 'i32',
  start: 'i32',
  end: 'i32',
  next: 'i32',
  last: 'i32',
  out: 'i32',
  mark: 'i32',
  column: 'i32',
  columnsEnd: 'i32',
  copied: 'i32',
  filtered: 'i32',
  between: 'i32',
  wanted: 'i32',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const set = (address: number, value: Code): Code => i32.store(zero, address, value);

const stop = (v: Variables, reason: number): Code =>
  sequence(
    set(state.next, v.next.get),
    set(state.out, v.mark.get),
    set(state.copied, v.copied.get),
    set(state.filtered, v.filtered.get),
    set(state.reason, i32.const(reason)),
    leaveWith(v.record.get),
  );

const listFields = (v: Variables, call: Call): Code =>
  sequence(
    set(state.next, i32.const(delimitersAt)),
    set(
      state.listEnd,
      call('scanFields', i32.const(textAt), v.textEnd.get, flag(state.delimiter), flag(state.quote)),
    ),
    when(
      i32.gt(flag(state.delimiterBytes), i32.const(1)),
      set(state.listEnd, call('keepDelimiters', flag(state.listEnd))),
    ),
  );

/** Finds the record's fields. Stops at too few delimiters, or too many unless `isCut` is set. */
const findFields = (v: Variables, call: Call): Code =>
  sequence(
    loopWhile(i32.lt(i32.load(v.next.get), v.start.get), increase(v.next, 4)),
    v.last.set(i32.add(v.next.get, v.between.get)),
    when(i32.gt(v.last.get, flag(state.listEnd)), stop(v, stopped.unsure)),
    when(
      i32.lt(i32.load(v.last.get), v.end.get),
      whenElse(flag(state.isCut), v.end.set(i32.load(v.last.get)), stop(v, stopped.unsure)),
    ),
    when(
      i32.and(i32.ne(v.between.get, zero), i32.ge(i32.load(i32.sub(v.last.get, i32.const(4))), v.end.get)),
      stop(v, stopped.unsure),
    ),
    drop(call('placeFields', v.next.get, v.start.get, v.end.get)),
  );

const encodeRow = (v: Variables, call: Call): Code =>
  sequence(
    whenElse(
      flag(state.isTextFormat),
      [],
      sequence(i32.storeShort(v.out.get, 0, flag(state.rowHead)), increase(v.out, 2)),
    ),
    when(flag(state.lineAt), drop(call('putLine', v.record.get))),
    v.column.set(flag(state.columnsAt)),
    loopWhile(
      i32.lt(v.column.get, v.columnsEnd.get),
      v.out.set(call('encodeColumn', v.column.get, v.out.get)),
      when(i32.isZero(v.out.get), stop(v, stopped.unsure)),
      when(flag(state.isTextFormat), i32.storeByte(v.out.get, 0, i32.const(TAB)), increase(v.out, 1)),
      increase(v.column, columnBytes),
    ),
    when(flag(state.isTextFormat), i32.storeByte(i32.sub(v.out.get, i32.const(1)), 0, i32.const(LF))),
    v.mark.set(v.out.get),
    increase(v.copied, 1),
  );

/**
 * (record, records, shift, textEnd) -> index of the record at which it stopped. `shift` plus an
 * offset is an address. `textEnd` is 0 if the window's delimiters are listed already.
 */
export const encodeRows = functionOf(4, variables, (v, call) => {
  const offsetAt = (list: number): Code =>
    i32.add(i32.load(i32.shl(v.record.get, i32.const(2)), list), v.shift.get);
  const needed = i32.add(flag(state.rowRoom), i32.mul(flag(state.perByte), i32.sub(v.end.get, v.start.get)));
  return sequence(
    when(v.textEnd.get, listFields(v, call)),
    v.next.set(flag(state.next)),
    v.mark.set(flag(state.out)),
    v.between.set(flag(state.between)),
    v.columnsEnd.set(flag(state.columnsEnd)),
    loopWhile(
      i32.lt(v.record.get, v.records.get),
      v.out.set(v.mark.get),
      v.start.set(offsetAt(startsAt)),
      v.end.set(offsetAt(endsAt)),
      when(i32.gt(i32.add(v.out.get, needed), i32.const(outEnd)), stop(v, stopped.full)),
      findFields(v, call),
      v.wanted.set(i32.const(wanted.yes)),
      when(
        flag(state.filter),
        v.wanted.set(call('isWanted')),
        when(i32.eq(v.wanted.get, i32.const(wanted.unsure)), stop(v, stopped.unsure)),
      ),
      whenElse(v.wanted.get, encodeRow(v, call), increase(v.filtered, 1)),
      v.next.set(v.last.get),
      increase(v.record, 1),
    ),
    stop(v, stopped.atEnd),
    zero,
  );
});
