// Runs the fast scan (WebAssembly) for records over a block, 64 KiB at a time.

import { CR } from '../../core/characters.ts';
import { groupBytes, instantiate } from '../wasm-instance.ts';
import { scanBytes } from './scan-bytes.ts';
import { endsAt, linesAt, startsAt, state, windowAt, windowBytes } from './scan-memory.ts';

const { scanGroups, memory } = instantiate(scanBytes, {});
const { buffer } = memory;

const scanMemory = {
  text: new Uint8Array(buffer, windowAt, windowBytes),
  before: new Uint8Array(buffer, windowAt - 1, 1),
  starts: new Int32Array(buffer, startsAt, windowBytes),
  ends: new Int32Array(buffer, endsAt, windowBytes),
  lines: new Int32Array(buffer, linesAt, windowBytes),
  state: new Int32Array(buffer, 0, Object.keys(state).length),
};

export interface QuoteRule {
  readonly quote: number;
  /** -1 if the delimiter has several bytes, or quotes are not doubled: all quotes are irregular. */
  readonly delimiter: number;
  readonly keepEmpty: boolean;
}

/**
 * Scans a text, whose offset in the block is `base`. Returns the first byte not scanned, or a
 * negative number if a record is irregular.
 */
const scanText = (from: number, to: number, base: number, rule: QuoteRule): number =>
  scanGroups(
    windowAt + from,
    windowAt + to,
    base - windowAt,
    rule.quote === -1 ? CR : rule.quote,
    rule.delimiter,
    rule.quote === -1 ? 0 : -1,
    rule.delimiter === -1 ? 0 : -1,
    Number(rule.keepEmpty),
  ) - windowAt;

export interface RecordList {
  starts: Int32Array;
  ends: Int32Array;
  lines: Int32Array;
  length: number;
  plain: boolean;
}

const newList = (room: number): RecordList => ({
  starts: new Int32Array(room),
  ends: new Int32Array(room),
  lines: new Int32Array(room),
  length: 0,
  plain: true,
});

const firstRoom = 1024;

export const createRecordList = (): RecordList => newList(firstRoom);

const makeRoom = (list: RecordList, more: number): void => {
  if (list.length + more <= list.starts.length) return;
  const larger = newList(Math.max(2 * list.starts.length, list.length + more));
  larger.starts.set(list.starts);
  larger.ends.set(list.ends);
  larger.lines.set(list.lines);
  Object.assign(list, { starts: larger.starts, ends: larger.ends, lines: larger.lines });
};

export const addRecord = (list: RecordList, start: number, end: number, line: number): void => {
  makeRoom(list, 1);
  list.starts[list.length] = start;
  list.ends[list.length] = end;
  list.lines[list.length] = line;
  list.length += 1;
};

const addScanned = (list: RecordList): void => {
  const { starts, ends, lines, state: scanned } = scanMemory;
  const count = scanned[state.found]! >> 2;
  makeRoom(list, count);
  list.starts.set(starts.subarray(0, count), list.length);
  list.ends.set(ends.subarray(0, count), list.length);
  list.lines.set(lines.subarray(0, count), list.length);
  list.length += count;
  if (scanned[state.special] !== 0) list.plain = false;
};

interface Cursor {
  at: number;
  line: number;
}

type RecordPass = (cursor: Cursor) => void;

/** Creates a scan of a block, whose bytes must not change in the meantime. */
export const createRecordPass = (block: Buffer, list: RecordList, rule: QuoteRule): RecordPass => {
  const { text, before, state: scanned } = scanMemory;
  let [loadedFrom, loadedTo] = [0, 0];
  const load = (from: number): void => {
    loadedFrom = from;
    loadedTo = Math.min(block.length, from + text.length);
    text.set(block.subarray(from, loadedTo));
    before[0] = from === 0 ? 0 : block[from - 1]!;
  };
  return (cursor) => {
    scanned[state.start] = cursor.at;
    scanned[state.line] = cursor.line;
    scanned[state.lines] = cursor.line;
    scanned[state.inside] = 0;
    scanned[state.special] = 0;
    let next = cursor.at;
    while (block.length - next >= groupBytes) {
      if (next < loadedFrom || loadedTo - next < groupBytes) load(next);
      const reached = scanText(next - loadedFrom, loadedTo - loadedFrom, loadedFrom, rule);
      addScanned(list);
      if (reached < 0) break;
      next = loadedFrom + reached;
    }
    cursor.at = scanned[state.start]!;
    cursor.line = scanned[state.line]!;
  };
};
