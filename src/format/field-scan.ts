// Lists the delimiters outside of quotes, 64 bytes at a time.

import { bitsOf, isSome, loadGroup, parities } from './byte-bits.ts';
import { groupBytes } from './wasm-instance.ts';
import { i32, i64, loopWhile, sequence, v128, when, type Code, type Local } from './wasm-code.ts';
import { functionOf, type FunctionCode } from './wasm-module.ts';

const variables = {
  from: 'i32',
  to: 'i32',
  delimiter: 'i32',
  quote: 'i32',
  list: 'i32',
  inside: 'i64',
  insideBits: 'i64',
  delimiterBits: 'i64',
  group0: 'v128',
  group1: 'v128',
  group2: 'v128',
  group3: 'v128',
  quoteByte: 'v128',
  delimiterByte: 'v128',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const groupOf = (v: Variables) => [v.group0, v.group1, v.group2, v.group3];

const leaveOutQuoted = (v: Variables): Code =>
  sequence(
    v.insideBits.set(bitsOf(groupOf(v), v.quoteByte)),
    parities(v.insideBits),
    v.insideBits.set(i64.xor(v.insideBits.get, v.inside.get)),
    v.delimiterBits.set(i64.and(v.delimiterBits.get, i64.not(v.insideBits.get))),
    v.inside.set(i64.shrSigned(v.insideBits.get, i64.const(63n))),
  );

const listDelimiters = (v: Variables): Code =>
  loopWhile(
    isSome(v.delimiterBits.get),
    i32.store(v.list.get, 0, i32.add(v.from.get, i32.wrap(i64.trailingZeros(v.delimiterBits.get)))),
    v.list.set(i32.add(v.list.get, i32.const(4))),
    v.delimiterBits.set(i64.and(v.delimiterBits.get, i64.sub(v.delimiterBits.get, i64.const(1n)))),
  );

/** Last entry of the list of delimiters: larger than every address. */
const beyond = 0x7fffffff;

/**
 * Lists the addresses of all delimiters at `listAt`: (from, to, delimiter, quote) -> end of the list. The records must be whole and without
 * faults, and the 64 bytes from `to` must contain no delimiter.
 */
export const scanFields = (listAt: number): FunctionCode =>
  functionOf(4, variables, (v) =>
    sequence(
      v.list.set(i32.const(listAt)),
      v.quoteByte.set(v128.splat(v.quote.get)),
      v.delimiterByte.set(v128.splat(v.delimiter.get)),
      loopWhile(
        i32.lt(v.from.get, v.to.get),
        loadGroup(groupOf(v), v.from.get),
        v.delimiterBits.set(bitsOf(groupOf(v), v.delimiterByte)),
        when(i32.ne(v.quote.get, i32.const(-1)), leaveOutQuoted(v)),
        listDelimiters(v),
        v.from.set(i32.add(v.from.get, i32.const(groupBytes))),
      ),
      i32.store(v.list.get, 0, i32.const(beyond)),
      v.list.get,
    ),
  );
