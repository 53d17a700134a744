// The row routine: delimiters and records of a window in, rows of COPY's binary format out, column by column.

import { scanFields } from '../simd/field-scan.ts';
import {
  call,
  i32,
  i64,
  leaveWith,
  locals,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../simd/wasm-code.ts';
import { createRoutine, functionOf, type FunctionCode, type Routine } from '../simd/wasm-module.ts';
import { findToken, flag, mayBeOneOf, placeFields, takeOffDoubles, trimBlanks } from './field-code.ts';
import { scanDecimal } from './decimal-code.ts';
import { readDigits, readMoment } from './moment-code.ts';
import {
  column,
  delimitersAt,
  endsAt,
  glueAt,
  glueBytes,
  kind,
  outEnd,
  planAt,
  slot,
  startsAt,
  state,
  stopped,
  textAt,
  token,
} from './row-memory.ts';
import { copyBytes, increase, notSure, zero } from './put-code.ts';
import { readFloat, readInteger, readNumeric, readText } from './value-code.ts';

/** What the routine asks the host. */
export interface RowHost {
  /** (column's place, address) -> the address behind the value that was written there, or 0: refused or not sure. */
  readonly encodeByText: (index: number, out: number) => number;
  /** -> 1 when the record that stands in the slots is wanted. */
  readonly isWanted: () => number;
}

/** Places of the module's functions: the host's first. */
const f = {
  encodeByText: 0,
  isWanted: 1,
  scanFields: 2,
  scanDecimal: 3,
  readInteger: 4,
  readFloat: 5,
  readNumeric: 6,
  readText: 7,
  readDigits: 8,
  readMoment: 9,
  takeOffDoubles: 10,
  placeFields: 11,
  findToken: 12,
  encodeColumn: 13,
};

const is = (value: Code, wanted: number): Code => i32.eq(value, i32.const(wanted));

/** Reads the bytes as the column's kind, and sets `at` behind the value; 0 when the spelling is not the usual one. */
const readValue = (
  v: Record<'column' | 'start' | 'end' | 'out' | 'kind' | 'decimal' | 'at', Local>,
): Code => {
  const readNumber = sequence(
    v.decimal.set(call(f.scanDecimal, v.start.get, v.end.get)),
    when(
      i32.isZero(i64.eq(v.decimal.get, i64.const(-1n))),
      whenElse(
        is(v.kind.get, kind.integer),
        v.at.set(call(f.readInteger, v.column.get, v.out.get, v.decimal.get)),
        whenElse(
          is(v.kind.get, kind.numeric),
          v.at.set(call(f.readNumeric, v.column.get, v.out.get, v.decimal.get)),
          v.at.set(call(f.readFloat, v.out.get, is(v.kind.get, kind.real), v.decimal.get)),
        ),
      ),
    ),
  );
  const theSame = [v.column.get, v.start.get, v.end.get, v.out.get];
  return sequence(
    v.at.set(zero),
    v.kind.set(i32.load(v.column.get, column.kind)),
    whenElse(
      is(v.kind.get, kind.text),
      v.at.set(call(f.readText, ...theSame)),
      whenElse(
        i32.ge(v.kind.get, i32.const(kind.date)),
        v.at.set(call(f.readMoment, ...theSame)),
        when(i32.ne(v.kind.get, i32.const(kind.other)), readNumber),
      ),
    ),
  );
};

/** (column, out) -> the address behind the value, or 0: the record is refused, or at least this column is not sure. */
const encodeColumn = (): FunctionCode => {
  const v = locals({
    column: 'i32',
    out: 'i32',
    slot: 'i32',
    start: 'i32',
    end: 'i32',
    parts: 'i32',
    list: 'i32',
    to: 'i32',
    length: 'i32',
    at: 'i32',
    nulls: 'i32',
    tokens: 'i32',
    kind: 'i32',
    decimal: 'i64',
  });
  const byText = call(f.encodeByText, i32.load(v.column.get, column.index), v.out.get);
  /** Ends with what is written for the token, when the bytes are one of the list. */
  const takeToken = (list: Local): Code =>
    when(
      mayBeOneOf(list, v.start, v.end),
      v.at.set(call(f.findToken, list.get, v.start.get, v.end.get)),
      when(
        v.at.get,
        v.length.set(i32.load(v.at.get, token.valueBytes)),
        when(is(v.length.get, -1), notSure),
        v.start.set(i32.load(v.at.get, token.valueAt)),
        copyBytes(v.out, v.start, v.length, v.at),
        leaveWith(i32.add(v.out.get, v.length.get)),
      ),
    );
  const takeField = sequence(
    v.start.set(i32.load(v.slot.get, slot.start)),
    v.end.set(i32.load(v.slot.get, slot.end)),
    when(flag(state.trim), trimBlanks(v.start, v.end)),
    takeToken(v.nulls),
  );
  const glue = sequence(
    v.list.set(v.slot.get),
    v.to.set(i32.const(glueAt)),
    loopWhile(
      v.parts.get,
      v.slot.set(i32.load(v.list.get)),
      takeField,
      v.length.set(i32.sub(v.end.get, v.start.get)),
      when(i32.gt(i32.add(v.to.get, v.length.get), i32.const(glueAt + glueBytes)), leaveWith(byText)),
      copyBytes(v.to, v.start, v.length, v.at),
      v.to.set(i32.add(v.to.get, v.length.get)),
      increase(v.list, 4),
      increase(v.parts, -1),
    ),
    v.start.set(i32.const(glueAt)),
    v.end.set(v.to.get),
  );
  const body = sequence(
    v.nulls.set(i32.load(v.column.get, column.nulls)),
    v.slot.set(i32.load(v.column.get, column.slots)),
    v.parts.set(i32.load(v.column.get, column.parts)),
    when(is(v.parts.get, 1), takeField),
    when(i32.gt(v.parts.get, i32.const(1)), glue),
    v.tokens.set(i32.load(v.column.get, column.tokens)),
    takeToken(v.tokens),
    readValue(v),
    when(v.at.get, leaveWith(v.at.get)),
    byText,
  );
  return functionOf(v, 2, body);
};

/**
 * (record, records, shift, textEnd) -> the record it stopped at. `shift` makes an address of an offset; `textEnd` is 0
 * when the delimiters of the window are listed.
 */
const encodeRows = (): FunctionCode => {
  const v = locals({
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
  });
  const offsetAt = (list: number): Code =>
    i32.add(i32.load(i32.shl(v.record.get, i32.const(2)), list), v.shift.get);
  const set = (address: number, value: Code): Code => i32.store(zero, address, value);
  const stop = (reason: number): Code =>
    sequence(
      set(state.next, v.next.get),
      set(state.out, v.mark.get),
      set(state.copied, v.copied.get),
      set(state.filtered, v.filtered.get),
      set(state.reason, i32.const(reason)),
      leaveWith(v.record.get),
    );
  const needed = i32.add(flag(state.rowRoom), i32.mul(flag(state.perByte), i32.sub(v.end.get, v.start.get)));
  /** As many delimiters as there should be, no more and no fewer. */
  const checkCount = sequence(
    loopWhile(i32.lt(i32.load(v.next.get), v.start.get), increase(v.next, 4)),
    v.last.set(i32.add(v.next.get, v.between.get)),
    when(i32.gt(v.last.get, flag(state.listEnd)), stop(stopped.unsure)),
    when(i32.lt(i32.load(v.last.get), v.end.get), stop(stopped.unsure)),
    when(
      i32.and(i32.ne(v.between.get, zero), i32.ge(i32.load(i32.sub(v.last.get, i32.const(4))), v.end.get)),
      stop(stopped.unsure),
    ),
  );
  const encodeRow = sequence(
    i32.storeShort(v.out.get, 0, flag(state.rowHead)),
    increase(v.out, 2),
    v.column.set(flag(state.columnsAt)),
    loopWhile(
      i32.lt(v.column.get, v.columnsEnd.get),
      v.out.set(call(f.encodeColumn, v.column.get, v.out.get)),
      when(i32.isZero(v.out.get), stop(stopped.unsure)),
      increase(v.column, column.bytes),
    ),
    v.mark.set(v.out.get),
    increase(v.copied, 1),
  );
  const listFields = sequence(
    set(state.next, i32.const(delimitersAt)),
    set(
      state.listEnd,
      call(f.scanFields, i32.const(textAt), v.textEnd.get, flag(state.delimiter), flag(state.quote)),
    ),
  );
  const body = sequence(
    when(v.textEnd.get, listFields),
    v.next.set(flag(state.next)),
    v.mark.set(flag(state.out)),
    v.between.set(flag(state.between)),
    v.columnsEnd.set(flag(state.columnsEnd)),
    loopWhile(
      i32.lt(v.record.get, v.records.get),
      v.out.set(v.mark.get),
      v.start.set(offsetAt(startsAt)),
      v.end.set(offsetAt(endsAt)),
      when(i32.gt(i32.add(v.out.get, needed), i32.const(outEnd)), stop(stopped.full)),
      checkCount,
      [...call(f.placeFields, v.next.get, v.start.get, v.end.get), 0x1a],
      v.wanted.set(i32.const(1)),
      when(flag(state.filter), v.wanted.set(call(f.isWanted))),
      whenElse(v.wanted.get, encodeRow, increase(v.filtered, 1)),
      v.next.set(v.last.get),
      increase(v.record, 1),
    ),
    stop(stopped.atEnd),
    zero,
  );
  return functionOf(v, 4, body);
};

/** Compiles the routine; its memory ends where the plan of a table begins. */
export const createRowRoutine = ({ encodeByText, isWanted }: RowHost): Routine =>
  createRoutine(
    [
      scanFields(delimitersAt),
      scanDecimal(),
      readInteger(),
      readFloat(),
      readNumeric(),
      readText(),
      readDigits(),
      readMoment((from, count) => call(f.readDigits, from, count)),
      takeOffDoubles(),
      placeFields((start, end, quote) => call(f.takeOffDoubles, start, end, quote)),
      findToken(),
      encodeColumn(),
      encodeRows(),
    ],
    planAt,
    [
      { parameters: 2, run: encodeByText },
      { parameters: 0, run: isWanted },
    ],
  );
