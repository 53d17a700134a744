// The fast pass over records: where each ends, sixty-four bytes at a time, as long as they are regular.
//
// A quote is regular where the quotes before it are even in number and it opens a field or doubles a quote, or where they are odd and
// what follows may follow a closing quote. Between regular quotes, a byte lies within quotes just when the quotes before it are odd
// in number. Anything else (a stray quote, blanks around quotes, a lone carriage return, a record too long) ends the pass at the
// beginning of its record, and the splitter goes on byte by byte. Proved to agree by test/unit/format/records/split-property.test.ts.

import { recordBytesMax } from '../../core/limits.ts';
import { bitsOf, holdsAny, isByte, isSome, loadGroup, parities } from '../wasm/byte-bits.ts';
import { groupBytes } from '../wasm/instance.ts';
import { endsAt, linesAt, memoryBytes, startsAt, state } from './scan-memory.ts';
import { i32, i64, locals, loopWhile, sequence, v128, when, whenElse, type Code } from '../wasm/wasm-code.ts';
import { functionOf } from '../wasm/wasm-module.ts';

const LF = 10;
const CR = 13;

const types = {
  // Of the first byte to read and after the last, in memory; and of the memory's place 0 in the block.
  from: 'i32',
  to: 'i32',
  base: 'i32',
  quote: 'i32',
  delimiter: 'i32',
  /** 0: there are no quotes · -1: there are. */
  quotes: 'i32',
  /** 0: every quote is irregular, because the dialect is · -1: quotes are understood. */
  understood: 'i32',
  keepEmpty: 'i32',
  start: 'i32',
  line: 'i32',
  lines: 'i32',
  special: 'i32',
  /** 4 x records found. */
  found: 'i32',
  /** Byte before the group. */
  before: 'i32',
  place: 'i32',
  end: 'i32',
  /** 1: the record is listed, 0: it is a blank line. */
  kept: 'i32',
  /** All ones while the group begins within quotes. */
  inside: 'i64',
  /** The byte before the group may be a closing quote or a carriage return, so the next byte matters. */
  pending: 'i64',
  lineBits: 'i64',
  returnBits: 'i64',
  quoteBits: 'i64',
  insideBits: 'i64',
  closing: 'i64',
  delimiterBits: 'i64',
  irregular: 'i64',
  ends: 'i64',
  group0: 'v128',
  group1: 'v128',
  group2: 'v128',
  group3: 'v128',
  quoteByte: 'v128',
  delimiterByte: 'v128',
  lineByte: 'v128',
  returnByte: 'v128',
} as const;
const parameters = 8;
const v = locals(types);
const group = [v.group0, v.group1, v.group2, v.group3];

const zero = i32.const(0);
/** Each bit one byte later, and `first` for the byte before the group. */
const follows = (bits: Code, first: Code): Code => i64.or(i64.shl(bits, i64.const(1n)), i64.extend(first));

const enter = sequence(
  v.start.set(i32.load(zero, 4 * state.start)),
  v.line.set(i32.load(zero, 4 * state.line)),
  v.lines.set(i32.load(zero, 4 * state.lines)),
  v.inside.set(i64.extendSigned(i32.load(zero, 4 * state.inside))),
  v.special.set(i32.load(zero, 4 * state.special)),
  v.quoteByte.set(v128.splat(v.quote.get)),
  v.delimiterByte.set(v128.splat(v.delimiter.get)),
  v.lineByte.set(v128.splat(i32.const(LF))),
  v.returnByte.set(v128.splat(i32.const(CR))),
  v.pending.set(i64.const(1n)),
);

const leave = sequence(
  i32.store(zero, 4 * state.start, v.start.get),
  i32.store(zero, 4 * state.line, v.line.get),
  i32.store(zero, 4 * state.lines, v.lines.get),
  i32.store(zero, 4 * state.inside, i32.wrap(v.inside.get)),
  i32.store(zero, 4 * state.special, v.special.get),
  i32.store(zero, 4 * state.found, v.found.get),
);

/** A group with a quote or a carriage return, or within quotes. */
const judgeQuotes = sequence(
  v.before.set(i32.loadByte(i32.sub(v.from.get, i32.const(1)))),
  v.returnBits.set(bitsOf(group, v.returnByte)),
  v.quoteBits.set(i64.and(bitsOf(group, v.quoteByte), i64.extendSigned(v.quotes.get))),
  v.delimiterBits.set(bitsOf(group, v.delimiterByte)),
  v.insideBits.set(v.quoteBits.get),
  parities(v.insideBits),
  v.insideBits.set(i64.xor(v.insideBits.get, v.inside.get)),
  v.closing.set(i64.and(v.quoteBits.get, i64.not(v.insideBits.get))),
  // A line feed follows a carriage return.
  v.irregular.set(
    i64.and(follows(v.returnBits.get, isByte(v.before.get, i32.const(CR))), i64.not(v.lineBits.get)),
  ),
  // An opening quote has a field's start before it, or the quote that it doubles.
  v.irregular.set(
    i64.or(
      v.irregular.get,
      i64.and(
        i64.and(v.quoteBits.get, v.insideBits.get),
        i64.not(
          follows(
            i64.or(i64.or(v.delimiterBits.get, v.lineBits.get), v.quoteBits.get),
            i32.or(
              i32.eq(v.start.get, i32.add(v.base.get, v.from.get)),
              isByte(v.before.get, v.delimiter.get, i32.const(LF), v.quote.get),
            ),
          ),
        ),
      ),
    ),
  ),
  // The field's end follows a closing quote, or the quote that doubles it.
  v.irregular.set(
    i64.or(
      v.irregular.get,
      i64.and(
        follows(
          v.closing.get,
          i32.and(
            i32.and(isByte(v.before.get, v.quote.get), v.quotes.get),
            i32.wrap(i64.add(v.inside.get, i64.const(1n))),
          ),
        ),
        i64.not(
          i64.or(i64.or(v.delimiterBits.get, v.lineBits.get), i64.or(v.quoteBits.get, v.returnBits.get)),
        ),
      ),
    ),
  ),
  v.irregular.set(
    i64.or(v.irregular.get, i64.and(v.quoteBits.get, i64.not(i64.extendSigned(v.understood.get)))),
  ),
  v.ends.set(i64.and(v.lineBits.get, i64.not(v.insideBits.get))),
  v.inside.set(i64.shrSigned(v.insideBits.get, i64.const(63n))),
  v.pending.set(i64.shr(i64.or(v.closing.get, v.returnBits.get), i64.const(63n))),
  v.special.set(i32.or(v.special.get, isSome(v.returnBits.get))),
  // Only records that end before the first irregular byte are sure; x & -x is the lowest bit of x.
  when(
    isSome(v.irregular.get),
    v.ends.set(
      i64.and(
        v.ends.get,
        i64.sub(i64.and(v.irregular.get, i64.sub(i64.const(0n), v.irregular.get)), i64.const(1n)),
      ),
    ),
  ),
);

/** Bits up to the lowest one, itself included. */
const upToLowest = (bits: Code): Code => i64.xor(bits, i64.sub(bits, i64.const(1n)));

const listed = (at: number, value: Code): Code => i32.store(v.found.get, at, value);

/** Lists every record that ends in the group; one that is too long is irregular. */
const listRecords = loopWhile(
  isSome(v.ends.get),
  v.place.set(i32.add(v.from.get, i32.wrap(i64.trailingZeros(v.ends.get)))),
  v.end.set(
    i32.add(
      v.base.get,
      i32.sub(v.place.get, isByte(i32.loadByte(i32.sub(v.place.get, i32.const(1))), i32.const(CR))),
    ),
  ),
  whenElse(
    i32.gt(i32.sub(v.end.get, v.start.get), i32.const(recordBytesMax)),
    sequence(v.irregular.set(i64.const(1n)), v.ends.set(i64.const(0n))),
    sequence(
      listed(startsAt, v.start.get),
      listed(endsAt, v.end.get),
      listed(linesAt, v.line.get),
      v.kept.set(i32.or(i32.ne(v.start.get, v.end.get), v.keepEmpty.get)),
      v.special.set(i32.or(v.special.get, i32.isZero(v.kept.get))),
      v.found.set(i32.add(v.found.get, i32.shl(v.kept.get, i32.const(2)))),
      v.start.set(i32.add(i32.add(v.place.get, v.base.get), i32.const(1))),
      v.line.set(i32.add(v.lines.get, i32.wrap(i64.ones(i64.and(v.lineBits.get, upToLowest(v.ends.get)))))),
      v.ends.set(i64.and(v.ends.get, i64.sub(v.ends.get, i64.const(1n)))),
    ),
  ),
);

/** Returns the address of the first group that was not looked at; 0 when a record is irregular. */
const body = sequence(
  enter,
  loopWhile(
    i32.le(i32.add(v.from.get, i32.const(groupBytes)), v.to.get),
    loadGroup(group, v.from.get),
    v.lineBits.set(bitsOf(group, v.lineByte)),
    v.ends.set(v.lineBits.get),
    when(
      i32.or(holdsAny(group, [v.quoteByte, v.returnByte]), isSome(i64.or(v.inside.get, v.pending.get))),
      judgeQuotes,
    ),
    listRecords,
    v.lines.set(i32.add(v.lines.get, i32.wrap(i64.ones(v.lineBits.get)))),
    v.from.set(i32.add(v.from.get, i32.const(groupBytes))),
    when(isSome(v.irregular.get), v.from.set(zero), v.to.set(zero)),
  ),
  leave,
  v.from.get,
);

/** The module; scan-text.ts runs it. */
export const scanModule = {
  memoryBytes,
  imported: {},
  functions: { scanGroups: functionOf(parameters, types, () => body) },
};
