// One column of a record, in WebAssembly: its fields, tokens, the usual spellings of its type, and the host for the others.

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
import { functionOf, type FunctionCode } from '../simd/wasm-module.ts';
import { flag, mayBeOneOf, trimBlanks } from './field-code.ts';
import { copyBytes, increase, notSure, zero } from './put-code.ts';
import { column, glueAt, glueBytes, kind, slot, state, token } from './row-memory.ts';

/** Places of the module's functions: the host's first. */
export const f = {
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

const variables = () =>
  locals({
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
type Variables = ReturnType<typeof variables>;

/** Reads the bytes as the column's kind, and sets `at` behind the value; 0 when the spelling is not the usual one. */
const readValue = (v: Variables): Code => {
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

/** Ends with what is written for the token, when the bytes are one of the list. */
const takeToken = (v: Variables, list: Local): Code =>
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

/** (column, out) -> the address behind the value, or 0: the record is refused, or at least this column is not sure. */
export const encodeColumn = (): FunctionCode => {
  const v = variables();
  const byText = call(f.encodeByText, i32.load(v.column.get, column.index), v.out.get);
  const takeField = sequence(
    v.start.set(i32.load(v.slot.get, slot.start)),
    v.end.set(i32.load(v.slot.get, slot.end)),
    when(flag(state.trim), trimBlanks(v.start, v.end)),
    takeToken(v, v.nulls),
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
    takeToken(v, v.tokens),
    readValue(v),
    when(v.at.get, leaveWith(v.at.get)),
    byText,
  );
  return functionOf(v, 2, body);
};
