// The WebAssembly routine that counts how often each text occurs in a column. It counts the texts
// in its cache itself, and lists other texts for JavaScript.
//
// The cache of a column has sets of two slots. A slot has a text of up to 16 bytes as two numbers
// of 64 bits, the address of its counter, and its hash, by which init finds unique columns.

import { scanFields } from '../../format/field-scan.ts';
import {
  choose,
  i32,
  i64,
  leaveWith,
  locals,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
} from '../../format/wasm-code.ts';
import { functionOf, type ModuleSource } from '../../format/wasm-module.ts';
import { counterOf } from './column-evidence.ts';
import {
  columnLayout,
  columnsAt,
  delimitersAt,
  endsAt,
  first,
  firstBytesAt,
  hashListBytes,
  newAt,
  newAtOnce,
  newText,
  setBytes,
  slot,
  slotTextMax,
  startsAt,
  state,
} from './counter-memory.ts';

const types = {
  record: 'i32',
  records: 'i32',
  end: 'i32',
  /** Addresses in the list of delimiters: of the next one, and of the first after the record. */
  next: 'i32',
  after: 'i32',
  column: 'i32',
  from: 'i32',
  to: 'i32',
  length: 'i32',
  /** Holds in turn: how a field begins, the index of its slot in the set, and an address. */
  kind: 'i32',
  at: 'i32',
  newEnd: 'i32',
  low: 'i64',
  high: 'i64',
} as const;
const parameters = 2;
const v = locals(types);

const zero = i32.const(0);
const known = (address: number): Code => i32.load(zero, address);
const ofColumn = (offset: number): Code => i32.load(v.column.get, offset);

const countAt = (address: Code): Code =>
  sequence(v.at.set(address), i32.store(v.at.get, 0, i32.add(i32.load(v.at.get), i32.const(1))));

const countAs = (counter: number): Code =>
  countAt(i32.add(ofColumn(columnLayout.countersAt), i32.const(4 * counter)));

/** Stores the hash of the field, if the column's hashes are wanted. `part` loads half of a hash. */
const putHash = (part: (offset: number) => Code, low: number, high: number): Code =>
  when(
    ofColumn(columnLayout.hashesAt),
    v.kind.set(i32.add(ofColumn(columnLayout.hashesAt), i32.shl(v.record.get, i32.const(2)))),
    i32.store(v.kind.get, 0, part(low)),
    i32.store(v.kind.get, hashListBytes, part(high)),
  );

const kindAt = (address: Code): Code => i32.loadByte(i32.loadByte(address), firstBytesAt);

/** Sets `kind` by the first byte inside quotes: only possible null words are looked up. */
const judgeText = sequence(
  v.kind.set(kindAt(v.from.get)),
  when(i32.eq(v.kind.get, i32.const(first.quote)), v.kind.set(kindAt(i32.add(v.from.get, i32.const(1))))),
);

const mask = (bits: Code): Code => i64.shr(i64.const(-1n), i64.extend(bits));

/** Loads the field as two numbers, padded with NULs. They are unique: a field contains no NUL. */
const loadKey = sequence(
  v.low.set(i64.load(v.from.get)),
  whenElse(
    i32.gt(v.length.get, i32.const(8)),
    v.high.set(
      i64.and(
        i64.load(v.from.get, 8),
        mask(i32.sub(i32.const(8 * slotTextMax), i32.shl(v.length.get, i32.const(3)))),
      ),
    ),
    sequence(
      v.low.set(i64.and(v.low.get, mask(i32.sub(i32.const(64), i32.shl(v.length.get, i32.const(3)))))),
      v.high.set(i64.const(0n)),
    ),
  ),
);

/** Factors of the hash: odd numbers of 64 bits, from SplitMix64. */
const factor = -0x61c8864680b583ebn;
const otherFactor = -0x40a7b892e31b1a47n;

const findSet = v.at.set(
  i32.add(
    ofColumn(columnLayout.slotsAt),
    i32.mul(
      i32.wrap(
        i64.shr(
          i64.mul(i64.xor(v.low.get, i64.mul(v.high.get, i64.const(otherFactor))), i64.const(factor)),
          i64.load(zero, state.shift),
        ),
      ),
      i32.const(setBytes),
    ),
  ),
);

const slotShift = Math.log2(slot.bytes);

const isInSlot = (index: 0 | 1): Code =>
  i64.isZero(
    i64.or(
      i64.xor(i64.load(v.at.get, slot.low + index * slot.bytes), v.low.get),
      i64.xor(i64.load(v.at.get, slot.high + index * slot.bytes), v.high.get),
    ),
  );

const listNew = (setAt: Code): Code =>
  sequence(
    i32.store(v.newEnd.get, newText.column, v.column.get),
    i32.store(v.newEnd.get, newText.record, v.record.get),
    i32.store(v.newEnd.get, newText.from, v.from.get),
    i32.store(v.newEnd.get, newText.to, v.to.get),
    i32.store(v.newEnd.get, newText.setAt, setAt),
    i64.store(v.newEnd.get, newText.key, v.low.get),
    i64.store(v.newEnd.get, newText.key + 8, v.high.get),
    v.newEnd.set(i32.add(v.newEnd.get, i32.const(newText.bytes))),
  );

const lookUp = sequence(
  loadKey,
  findSet,
  v.kind.set(isInSlot(1)),
  whenElse(
    i32.or(isInSlot(0), v.kind.get),
    sequence(
      v.at.set(i32.add(v.at.get, i32.shl(v.kind.get, i32.const(slotShift)))),
      putHash((offset) => i32.load(v.at.get, offset), slot.hashLow, slot.hashHigh),
      countAt(i32.load(v.at.get, slot.counter)),
    ),
    listNew(v.at.get),
  ),
);

const takeField = sequence(
  v.length.set(i32.sub(v.to.get, v.from.get)),
  whenElse(
    i32.isZero(v.length.get),
    sequence(putHash(known, state.emptyLow, state.emptyHigh), countAs(counterOf.empty)),
    sequence(
      v.kind.set(i32.const(first.other)),
      when(ofColumn(columnLayout.isText), judgeText),
      whenElse(
        i32.eq(v.kind.get, i32.const(first.ofText)),
        countAs(counterOf.text),
        whenElse(i32.gt(v.length.get, i32.const(slotTextMax)), listNew(zero), lookUp),
      ),
    ),
  ),
);

const leave = sequence(
  i32.store(zero, state.next, v.next.get),
  i32.store(zero, state.newEnd, v.newEnd.get),
  leaveWith(v.record.get),
);

const ofRecord = (listAt: number): Code => i32.load(i32.shl(v.record.get, i32.const(2)), listAt);

const leaveAsOdd = sequence(i32.store(zero, state.isOdd, i32.const(1)), leave);

const countFields = sequence(
  v.from.set(ofRecord(startsAt)),
  v.end.set(ofRecord(endsAt)),
  loopWhile(i32.lt(i32.load(v.next.get), v.from.get), v.next.set(i32.add(v.next.get, i32.const(4)))),
  // A record has one delimiter less than columns. Columns have 16 bytes, delimiters 4: shift by 2.
  v.after.set(
    i32.add(
      v.next.get,
      i32.sub(i32.shr(i32.sub(known(state.columnsEnd), i32.const(columnsAt)), i32.const(2)), i32.const(4)),
    ),
  ),
  when(i32.gt(v.after.get, known(state.listEnd)), leaveAsOdd),
  when(i32.lt(i32.load(v.after.get), v.end.get), leaveAsOdd),
  when(
    i32.and(i32.gt(v.after.get, v.next.get), i32.ge(i32.load(i32.sub(v.after.get, i32.const(4))), v.end.get)),
    leaveAsOdd,
  ),
);

/**
 * Counts records from `record` on; returns the first record not counted. Ends after some new texts,
 * so that JavaScript adds them to the cache: a new text is often repeated soon.
 */
const body = sequence(
  v.next.set(known(state.next)),
  v.newEnd.set(i32.const(newAt)),
  i32.store(zero, state.isOdd, zero),
  loopWhile(
    i32.lt(v.record.get, v.records.get),
    countFields,
    v.column.set(i32.const(columnsAt)),
    loopWhile(
      i32.lt(v.column.get, known(state.columnsEnd)),
      v.to.set(i32.load(v.next.get)),
      v.to.set(choose(i32.lt(v.to.get, v.end.get), v.to.get, v.end.get)),
      takeField,
      v.from.set(i32.add(v.to.get, i32.const(1))),
      v.next.set(i32.add(v.next.get, i32.const(4))),
      v.column.set(i32.add(v.column.get, i32.const(columnLayout.bytes))),
    ),
    v.next.set(v.after.get),
    v.record.set(i32.add(v.record.get, i32.const(1))),
    when(i32.gt(v.newEnd.get, i32.const(newAt + newText.bytes * newAtOnce)), leave),
  ),
  leave,
  v.record.get,
);

export const counterModule = {
  memoryBytes: columnsAt,
  imported: {},
  functions: {
    scanFields: scanFields(delimitersAt),
    countRecords: functionOf(parameters, types, () => body),
  },
} satisfies ModuleSource;
