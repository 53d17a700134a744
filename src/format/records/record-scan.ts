// The fast scan (WebAssembly): finds where records end, 64 bytes at a time, while all quotes are
// regular.
//
// An opening quote is regular after the start of a field or another quote. A closing quote is
// regular before the end of a field or another quote. Then a byte is inside quotes exactly if an
// odd number of quotes precedes it. A stray quote, blanks around quotes, a lone CR or a record that
// is too long stops the scan, and the splitter reads that record byte by byte. Proved to agree by
// test/unit/format/records/split-property.test.ts.

import { CR, LF } from '../../core/characters.ts';
import { recordBytesMax } from '../../core/limits.ts';
import { bitsOf, holdsAny, isByte, isSome, loadGroup, parities } from '../byte-bits.ts';
import { groupBytes } from '../wasm-instance.ts';
import { endsAt, linesAt, memoryBytes, startsAt, state } from './scan-memory.ts';
import { i32, i64, locals, loopWhile, sequence, v128, when, whenElse, type Code } from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';

const types = {
  // `from`, `to`: addresses of the bytes to scan. `base`: offset in the block of address 0.
  from: 'i32',
  to: 'i32',
  base: 'i32',
  quote: 'i32',
  delimiter: 'i32',
  quotes: 'i32',
  /** -1 if the scan can judge quotes. 0: every quote counts as irregular. */
  understood: 'i32',
  keepEmpty: 'i32',
  start: 'i32',
  line: 'i32',
  lines: 'i32',
  special: 'i32',
  found: 'i32',
  before: 'i32',
  newline: 'i32',
  end: 'i32',
  kept: 'i32',
  /** All bits are 1 if the group begins inside quotes, else 0. */
  inside: 'i64',
  /** 1 if the byte before the group may be a closing quote or a CR, which the next byte decides. */
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
/** Shifts each bit to the next byte. `first` is the bit of the byte before the group. */
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

/** Finds irregular quotes and CRs. Skipped if the group has none, follows none, and is unquoted. */
const judgeQuotes = sequence(
  v.before.set(i32.loadByte(i32.sub(v.from.get, i32.const(1)))),
  v.returnBits.set(bitsOf(group, v.returnByte)),
  v.quoteBits.set(i64.and(bitsOf(group, v.quoteByte), i64.extendSigned(v.quotes.get))),
  v.delimiterBits.set(bitsOf(group, v.delimiterByte)),
  v.insideBits.set(v.quoteBits.get),
  parities(v.insideBits),
  v.insideBits.set(i64.xor(v.insideBits.get, v.inside.get)),
  v.closing.set(i64.and(v.quoteBits.get, i64.not(v.insideBits.get))),
  v.irregular.set(
    i64.and(follows(v.returnBits.get, isByte(v.before.get, i32.const(CR))), i64.not(v.lineBits.get)),
  ),
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
  // Keeps only records that end before the first irregular byte. x & -x is the lowest set bit of x.
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

const upToLowest = (bits: Code): Code => i64.xor(bits, i64.sub(bits, i64.const(1n)));

const listed = (at: number, value: Code): Code => i32.store(v.found.get, at, value);

const listRecords = loopWhile(
  isSome(v.ends.get),
  v.newline.set(i32.add(v.from.get, i32.wrap(i64.trailingZeros(v.ends.get)))),
  v.end.set(
    i32.add(
      v.base.get,
      i32.sub(v.newline.get, isByte(i32.loadByte(i32.sub(v.newline.get, i32.const(1))), i32.const(CR))),
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
      v.start.set(i32.add(i32.add(v.newline.get, v.base.get), i32.const(1))),
      v.line.set(i32.add(v.lines.get, i32.wrap(i64.ones(i64.and(v.lineBits.get, upToLowest(v.ends.get)))))),
      v.ends.set(i64.and(v.ends.get, i64.sub(v.ends.get, i64.const(1n)))),
    ),
  ),
);

/** Returns the address of the first group that was not scanned; 0 if a record is irregular. */
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

export const scanModule = {
  memoryBytes,
  imported: {},
  functions: { scanGroups: functionOf(parameters, types, () => body) },
};
