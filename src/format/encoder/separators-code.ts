// WebAssembly code that rewrites numbers with a decimal comma or thousands separators.

import { i32, leaveWith, loopWhile, sequence, when, type Code, type Local } from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { codeOf, isByte, isDigitBefore } from './byte-code.ts';
import { offsetOf } from './kinds.ts';
import { numberBytesMax, plainAt } from './memory.ts';
import { increase, notSure, zero } from './put-code.ts';

const spelling = (column: Local, field: 'decimal' | 'thousands' | 'thousandsBytes'): Code =>
  i32.load(column.get, offsetOf('real', field));

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  to: 'i32',
  from: 'i32',
  byte: 'i32',
  separator: 'i32',
  width: 'i32',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const isCopied = (v: Variables, character: string): Code => i32.eq(v.byte.get, i32.const(codeOf(character)));

const keepByte = (v: Variables): Code =>
  sequence(i32.storeByte(v.to.get, 0, v.byte.get), increase(v.to, 1), increase(v.start, 1));

const keepDigits = (v: Variables): Code =>
  loopWhile(isDigitBefore(v.start, v.end), v.byte.set(i32.loadByte(v.start.get)), keepByte(v));

const isAtSeparator = (v: Variables): Code =>
  i32.and(
    i32.lt(v.start.get, v.end.get),
    i32.eq(
      i32.and(
        i32.load(v.start.get),
        i32.sub(i32.shl(i32.const(1), i32.shl(v.width.get, i32.const(3))), i32.const(1)),
      ),
      v.separator.get,
    ),
  );

/** Requires three digits after each separator, and before it one to three without a leading 0. */
const keepGroups = (v: Variables): Code =>
  sequence(
    when(i32.gt(i32.sub(i32.sub(v.start.get, v.from.get), i32.const(1)), i32.const(2)), notSure),
    when(isByte(v.from, '0'), notSure),
    loopWhile(
      isAtSeparator(v),
      v.start.set(i32.add(v.start.get, v.width.get)),
      v.from.set(v.start.get),
      keepDigits(v),
      when(i32.ne(i32.sub(v.start.get, v.from.get), i32.const(3)), notSure),
    ),
  );

const keepRest = (v: Variables): Code =>
  loopWhile(
    i32.lt(v.start.get, v.end.get),
    when(isAtSeparator(v), notSure),
    v.byte.set(i32.loadByte(v.start.get)),
    when(
      i32.eq(spelling(v.column, 'decimal'), i32.const(codeOf(','))),
      when(isCopied(v, '.'), notSure),
      when(isCopied(v, ','), v.byte.set(i32.const(codeOf('.')))),
    ),
    keepByte(v),
  );

/** (column, start, end) -> end of the rewritten number at `plainAt`, or 0: wrong separators. */
export const plainNumber = functionOf(3, variables, (v) =>
  sequence(
    when(i32.gt(i32.sub(v.end.get, v.start.get), i32.const(numberBytesMax)), notSure),
    v.separator.set(spelling(v.column, 'thousands')),
    v.width.set(spelling(v.column, 'thousandsBytes')),
    v.to.set(i32.const(plainAt)),
    v.byte.set(i32.loadByte(v.start.get)),
    when(i32.or(isCopied(v, '+'), isCopied(v, '-')), keepByte(v)),
    v.from.set(v.start.get),
    keepDigits(v),
    when(isAtSeparator(v), keepGroups(v)),
    keepRest(v),
    v.to.get,
  ),
);

export const isSpelled = (column: Local): Code => spelling(column, 'decimal');

export const takePlain = (
  v: { readonly column: Local; readonly start: Local; readonly end: Local },
  call: Call,
): Code =>
  when(
    isSpelled(v.column),
    v.end.set(call('plainNumber', v.column.get, v.start.get, v.end.get)),
    when(i32.isZero(v.end.get), leaveWith(zero)),
    v.start.set(i32.const(plainAt)),
  );
