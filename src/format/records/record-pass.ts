// Runs the fast scan (WebAssembly) for records over a block, 64 KiB at a time.

import { recordBytesMax } from '../../core/limits.ts';
import {
  groupBytes,
  scanEndsAt,
  scanLinesAt,
  scanStartsAt,
  scanTextAt,
  windowBytes,
} from '../assembly/memory.ts';
import * as state from '../assembly/state.ts';
import { setWord, startRoutines, wordAt, type Routines } from '../encoder/routines.ts';

/** The routines of this thread's scans. */
let routines: Routines | undefined;

const scanRoutines = (): Routines => (routines ??= startRoutines());

export interface QuoteRule {
  readonly quote: number;
  /** -1 if the delimiter has several bytes, or quotes are not doubled: all quotes are irregular. */
  readonly delimiter: number;
  readonly keepEmpty: boolean;
}

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

const addScanned = (scan: Routines, list: RecordList): void => {
  const count = wordAt(scan, state.scanFound) >> 2;
  const found = (at: number): Int32Array => scan.words.subarray(at >> 2, (at >> 2) + count);
  makeRoom(list, count);
  list.starts.set(found(scanStartsAt), list.length);
  list.ends.set(found(scanEndsAt), list.length);
  list.lines.set(found(scanLinesAt), list.length);
  list.length += count;
  if (wordAt(scan, state.scanSpecial) !== 0) list.plain = false;
};

interface Cursor {
  at: number;
  line: number;
}

type RecordPass = (cursor: Cursor) => void;

const setRule = (scan: Routines, { quote, delimiter, keepEmpty }: QuoteRule): void => {
  setWord(scan, state.quote, quote);
  setWord(scan, state.delimiter, delimiter);
  setWord(scan, state.understood, delimiter === -1 ? 0 : -1);
  setWord(scan, state.keepEmpty, Number(keepEmpty));
};

/** Creates a scan of a block, whose bytes must not change in the meantime. */
export const createRecordPass = (block: Buffer, list: RecordList, rule: QuoteRule): RecordPass => {
  const scan = scanRoutines();
  let [loadedFrom, loadedTo] = [0, 0];
  const load = (from: number): void => {
    loadedFrom = from;
    loadedTo = Math.min(block.length, from + windowBytes);
    scan.bytes.set(block.subarray(from, loadedTo), scanTextAt);
    scan.bytes[scanTextAt - 1] = from === 0 ? 0 : block[from - 1]!;
  };
  setRule(scan, rule);
  return (cursor) => {
    setWord(scan, state.scanStart, cursor.at);
    setWord(scan, state.scanLine, cursor.line);
    setWord(scan, state.scanLines, cursor.line);
    setWord(scan, state.scanInside, 0);
    setWord(scan, state.scanSpecial, 0);
    let next = cursor.at;
    while (block.length - next >= groupBytes) {
      if (next < loadedFrom || loadedTo - next < groupBytes) load(next);
      const base = loadedFrom - scanTextAt;
      const reached = scan.scanRecords(next - base, loadedTo - base, base, recordBytesMax);
      addScanned(scan, list);
      if (reached === 0) break;
      next = base + reached;
    }
    cursor.at = wordAt(scan, state.scanStart);
    cursor.line = wordAt(scan, state.scanLine);
  };
};
