// Writes a record's line number into the token of the column `_line`.

import { ZERO } from '../../core/characters.ts';
import { i32, i64, loopWhile, sequence, whenElse, type Code, type Local } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { flag } from './field-code.ts';
import { linesAt, state } from './memory.ts';
import { increase, putInt64, zero } from './put-code.ts';
import { lineToken, token } from './token-list.ts';

const ten = i64.const(10n);

const variables = { record: 'i32', token: 'i32', at: 'i32', end: 'i32', line: 'i64' } as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const putDigits = (v: Variables): Code =>
  sequence(
    v.end.set(i32.add(v.token.get, i32.const(lineToken.bytes))),
    v.at.set(v.end.get),
    loopWhile(
      i32.isZero(i64.isZero(v.line.get)),
      increase(v.at, -1),
      i32.storeByte(v.at.get, 0, i32.add(i32.wrap(i64.mod(v.line.get, ten)), i32.const(ZERO))),
      v.line.set(i64.div(v.line.get, ten)),
    ),
    i32.store(v.token.get, token.valueAt, v.at.get),
    i32.store(v.token.get, token.valueBytes, i32.sub(v.end.get, v.at.get)),
  );

/** (record) -> 0. Writes the record's line, counted from 1. */
export const putLine = functionOf(1, variables, (v) =>
  sequence(
    v.token.set(flag(state.lineAt)),
    v.line.set(
      i64.add(
        i64.load(zero, state.blockLine),
        i64.extend(i32.load(i32.shl(v.record.get, i32.const(2)), linesAt)),
      ),
    ),
    whenElse(flag(state.isTextFormat), putDigits(v), putInt64(v.token, lineToken.valueAt + 4, v.line)),
    zero,
  ),
);
