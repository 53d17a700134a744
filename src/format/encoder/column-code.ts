// Encodes one column of a record. For COPY's text format, `readValue` also writes the binary value
// first: this checks the field, and rules compare the value. Then `putCopyText` overwrites it with
// the text. Proved by test/unit/format/records/text-rows.test.ts.

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
} from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { flag, mayBeOneOf, trimBlanks } from './field-code.ts';
import { copyBytes, increase, notSure, zero } from './put-code.ts';
import { kindList } from './kinds.ts';
import { column, slot } from './layouts.ts';
import { glueAt, glueBytes, state } from './memory.ts';
import { token } from './token-list.ts';

const is = (value: Code, wanted: number): Code => i32.eq(value, i32.const(wanted));

const variables = {
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
  isForHost: 'i32',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const readValue = (v: Variables, call: Call): Code => {
  const read = (routine: string): Code =>
    v.at.set(call(routine, v.column.get, v.start.get, v.end.get, v.out.get));
  return sequence(
    v.kind.set(i32.load(v.column.get, column.kind)),
    kindList.reduceRight(
      (others, { number, routine }) => whenElse(is(v.kind.get, number), read(routine), others),
      v.at.set(zero),
    ),
  );
};

const leaveWithValue = (v: Variables): Code =>
  sequence(
    v.length.set(i32.load(v.at.get, token.valueBytes)),
    when(is(v.length.get, -1), notSure),
    v.start.set(i32.load(v.at.get, token.valueAt)),
    copyBytes(v.out, v.start, v.length, v.at),
    leaveWith(i32.add(v.out.get, v.length.get)),
  );

const takeToken = (v: Variables, list: Local, call: Call): Code =>
  when(
    mayBeOneOf(list, v.start, v.end),
    v.at.set(call('findToken', list.get, v.start.get, v.end.get)),
    when(v.at.get, leaveWithValue(v)),
  );

/** Recognizes null. A quote in the byte before the content means that the field is quoted. */
const takeNull = (v: Variables, call: Call): Code => {
  const before = i32.loadByte(i32.sub(i32.load(v.slot.get, slot.start), i32.const(1)));
  const isQuoted = i32.eq(before, flag(state.quote));
  return when(
    mayBeOneOf(v.nulls, v.start, v.end),
    v.tokens.set(choose(isQuoted, i32.load(v.column.get, column.quotedNulls), v.nulls.get)),
    takeToken(v, v.tokens, call),
  );
};

const leaveUnlessForHost = (v: Variables, call: Call): Code =>
  sequence(
    v.isForHost.set(i32.load(v.column.get, column.hasFunction)),
    v.list.set(i32.load(v.column.get, column.rules)),
    when(
      v.list.get,
      when(
        i32.isZero(call('obeysRules', v.list.get, v.start.get, v.end.get, v.out.get)),
        v.isForHost.set(i32.const(1)),
      ),
    ),
    when(
      i32.isZero(v.isForHost.get),
      when(flag(state.isTextFormat), leaveWith(call('putCopyText', v.start.get, v.end.get, v.out.get))),
      leaveWith(v.at.get),
    ),
    // The value is binary, but the row needs text: with 0, JavaScript writes the text.
    when(flag(state.isTextFormat), v.at.set(zero)),
  );

const glueBytesOf = (v: Variables): Code =>
  sequence(
    when(i32.gt(i32.add(v.to.get, v.length.get), i32.const(glueAt + glueBytes)), notSure),
    copyBytes(v.to, v.start, v.length, v.at),
    v.to.set(i32.add(v.to.get, v.length.get)),
  );

/** (column, out) -> address after the value, or 0: refused, or JavaScript must decide. */
export const encodeColumn = functionOf(2, variables, (v, call) => {
  const takeField = sequence(
    v.start.set(i32.load(v.slot.get, slot.start)),
    v.end.set(i32.load(v.slot.get, slot.end)),
    when(flag(state.trim), trimBlanks(v.start, v.end)),
    takeNull(v, call),
  );
  const glue = sequence(
    v.list.set(v.slot.get),
    v.to.set(i32.const(glueAt)),
    loopWhile(
      v.parts.get,
      v.slot.set(i32.load(v.list.get)),
      takeField,
      v.length.set(i32.sub(v.end.get, v.start.get)),
      glueBytesOf(v),
      increase(v.list, 4),
      increase(v.parts, -1),
      when(
        v.parts.get,
        v.start.set(i32.load(v.column.get, column.separator)),
        v.length.set(i32.load(v.column.get, column.separatorBytes)),
        glueBytesOf(v),
      ),
    ),
    v.start.set(i32.const(glueAt)),
    v.end.set(v.to.get),
  );
  return sequence(
    v.nulls.set(i32.load(v.column.get, column.nulls)),
    v.slot.set(i32.load(v.column.get, column.slots)),
    v.parts.set(i32.load(v.column.get, column.parts)),
    whenElse(
      is(v.parts.get, 1),
      takeField,
      sequence(when(i32.isZero(v.parts.get), v.at.set(v.slot.get), leaveWithValue(v)), glue),
    ),
    v.tokens.set(i32.load(v.column.get, column.tokens)),
    takeToken(v, v.tokens, call),
    readValue(v, call),
    when(v.at.get, leaveUnlessForHost(v, call)),
    call('encodeByText', i32.load(v.column.get, column.index), v.start.get, v.end.get, v.out.get, v.at.get),
  );
});
