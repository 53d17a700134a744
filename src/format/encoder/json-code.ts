// WebAssembly code that checks JSON (RFC 8259), and copies it.

import {
  i32,
  i64,
  leaveWith,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../wasm-code.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { codeOf, digitAt } from './byte-code.ts';
import { offsetOf } from './kinds.ts';
import { copyBytes, increase, notSure, putInt32, zero } from './put-code.ts';
import { isOneOfCharacters } from './part-code.ts';

/** Nesting levels that fit into `levels`, an i64. JavaScript reads deeper texts. */
const depthMax = 63;

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  at: 'i32',
  byte: 'i32',
  isBinary: 'i32',
  isDone: 'i32',
  depth: 'i32',
  /** One bit per level, the innermost lowest: 1 for an object, 0 for an array. */
  levels: 'i64',
  length: 'i32',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const skipBlanks = (v: Variables): Code =>
  sequence(
    v.byte.set(i32.loadByte(v.at.get)),
    when(
      i32.le(v.byte.get, i32.const(0x20)),
      loopWhile(
        i32.and(i32.lt(v.at.get, v.end.get), isOneOfCharacters(v.byte, ' \n\r\t')),
        increase(v.at, 1),
        v.byte.set(i32.loadByte(v.at.get)),
      ),
    ),
  );

const isAt = (v: Variables, character: string): Code => i32.eq(v.byte.get, i32.const(codeOf(character)));

const goTo = (v: Variables, found: Code): Code =>
  sequence(v.at.set(found), when(i32.isZero(v.at.get), notSure));

const takeString = (v: Variables, call: Call): Code =>
  goTo(v, call('afterString', v.at.get, v.end.get, v.isBinary.get));

const takeName = (v: Variables, call: Call): Code =>
  sequence(
    skipBlanks(v),
    when(i32.isZero(isAt(v, '"')), notSure),
    takeString(v, call),
    skipBlanks(v),
    when(i32.isZero(isAt(v, ':')), notSure),
    increase(v.at, 1),
  );

const closeLevel = (v: Variables): Code =>
  sequence(
    increase(v.at, 1),
    increase(v.depth, -1),
    v.levels.set(i64.shr(v.levels.get, i64.const(1n))),
    v.isDone.set(i32.const(1)),
  );

const openLevel = (v: Variables, call: Call): Code => {
  const isObject = isAt(v, '{');
  return sequence(
    when(i32.ge(v.depth.get, i32.const(depthMax)), notSure),
    increase(v.depth, 1),
    v.levels.set(i64.or(i64.shl(v.levels.get, i64.const(1n)), i64.extend(isObject))),
    increase(v.at, 1),
    skipBlanks(v),
    whenElse(
      isAt(v, '}'),
      sequence(when(i64.isZero(isInObject(v)), notSure), closeLevel(v)),
      whenElse(
        isAt(v, ']'),
        sequence(when(i32.isZero(i64.isZero(isInObject(v))), notSure), closeLevel(v)),
        when(i32.wrap(isInObject(v)), takeName(v, call)),
      ),
    ),
  );
};

const isInObject = (v: Variables): Code => i64.and(v.levels.get, i64.const(1n));

const takeWord = (v: Variables): Code => {
  const packed = (word: string): Code => i32.const(Buffer.from(word).readInt32LE());
  const isWord = (word: string, offset = 0): Code => i32.eq(i32.load(v.at.get, offset), packed(word));
  return sequence(
    v.byte.set(i32.and(isAt(v, 'f'), isWord('alse', 1))),
    when(i32.isZero(i32.or(i32.or(isWord('true'), isWord('null')), v.byte.get)), notSure),
    v.at.set(i32.add(v.at.get, i32.add(i32.const(4), v.byte.get))),
  );
};

const takeValue = (v: Variables, call: Call): Code => {
  const done = v.isDone.set(i32.const(1));
  const isNumber = i32.or(isAt(v, '-'), i32.lt(digitAt(v.at), i32.const(10)));
  const isLevel = i32.eq(i32.or(v.byte.get, i32.const(0x20)), i32.const(codeOf('{')));
  return whenElse(
    isAt(v, '"'),
    sequence(takeString(v, call), done),
    whenElse(
      isLevel,
      openLevel(v, call),
      whenElse(
        isNumber,
        sequence(goTo(v, call('afterNumber', v.at.get, v.end.get)), done),
        sequence(takeWord(v), done),
      ),
    ),
  );
};

const takeNext = (v: Variables, call: Call): Code =>
  whenElse(
    isAt(v, ','),
    sequence(increase(v.at, 1), v.isDone.set(zero), when(i32.wrap(isInObject(v)), takeName(v, call))),
    sequence(
      v.byte.set(i32.sub(v.byte.get, i32.shl(i32.wrap(isInObject(v)), i32.const(5)))),
      // '}' has the code of ']' plus 32.
      when(i32.isZero(isAt(v, ']')), notSure),
      closeLevel(v),
    ),
  );

export const readJson = functionOf(4, variables, (v, call) => {
  const write = sequence(
    v.length.set(i32.sub(v.end.get, v.start.get)),
    when(v.isBinary.get, i32.storeByte(v.out.get, 4, i32.const(1))),
    v.byte.set(i32.add(v.length.get, v.isBinary.get)),
    putInt32(v.out, 0, v.byte),
    v.out.set(i32.add(v.out.get, i32.add(i32.const(4), v.isBinary.get))),
    copyBytes(v.out, v.start, v.length, v.at),
    leaveWith(i32.add(v.out.get, v.length.get)),
  );
  return sequence(
    v.at.set(v.start.get),
    v.isBinary.set(i32.load(v.column.get, offsetOf('json', 'isBinary'))),
    loopWhile(
      i32.le(v.at.get, v.end.get),
      skipBlanks(v),
      when(i32.eq(v.at.get, v.end.get), when(i32.or(v.depth.get, i32.isZero(v.isDone.get)), notSure), write),
      whenElse(
        v.isDone.get,
        sequence(when(i32.isZero(v.depth.get), notSure), takeNext(v, call)),
        takeValue(v, call),
      ),
    ),
    zero,
  );
});
