// Runs the row routines (WebAssembly) on records: on a stream's bytes in their memory, or on blocks
// of which a window of up to 64 KiB is copied there.

import { isAscii } from 'node:buffer';
import type { Dialect } from '../../core/declaration.ts';
import { BACKSLASH } from '../../core/characters.ts';
import { placeAlike } from '../../core/shared-copy.ts';
import type { Grammar } from '../records/grammar.ts';
import type { RecordBlock } from '../records/record-blocks.ts';
import { trimBlanks } from '../records/blanks.ts';
import { putBytes, reserve, type RowBytes } from '../types/row-bytes.ts';
import { setWord, startRoutines, wordAt, type Routines } from '../encoder/routines.ts';
import { slotBytes, slotEnd, slotStart } from '../assembly/layouts.ts';
import {
  endsAt,
  groupBytes,
  linesAt,
  outAt,
  outEnd,
  planAt,
  startsAt,
  stoppedFull,
  stoppedUnsure,
  textAt,
  unwanted,
  wanted,
  wantedUnsure,
  windowBytes,
} from '../assembly/memory.ts';
import * as state from '../assembly/state.ts';
import { fieldShare, type RowPlan } from './row-plan.ts';
import type { PlacedFields, TextEncoder } from './text-encoder.ts';

export interface RowTable {
  readonly plan: RowPlan;
  readonly grammar: Grammar;
  readonly isTextFormat: boolean;
  readonly isCut: boolean;
  readonly trim: Dialect['trim'];
  readonly between: number;
  readonly columns: number;
  readonly encoders: readonly TextEncoder[];
  readonly isWanted: ((placed: PlacedFields) => boolean) | undefined;
}

/** Longer substrings are views in V8: a function that keeps one would keep the whole text. */
const copiedLengthMax = 12;

/** A piece of the text in memory, as a string of its bytes. */
interface TextWindow {
  from: number;
  to: number;
  isAscii: boolean;
  latin1: string;
}

/** Routines with the text and the table in their memory. */
export interface RowRoutine extends Routines {
  table: RowTable | undefined;
  /** Where the text in memory ends. */
  textEnd: number;
  readonly window: TextWindow;
  readonly target: RowBytes;
  readonly fields: PlacedFields;
}

const isAsciiText = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
};

const windowAt = ({ window, bytes, textEnd }: RowRoutine, start: number, end: number): TextWindow => {
  if (start >= window.from && end <= window.to) return window;
  const to = Math.min(textEnd, start + windowBytes);
  return Object.assign(window, {
    from: start,
    to,
    isAscii: isAscii(bytes.subarray(start, to)),
    latin1: bytes.toString('latin1', start, to),
  });
};

/** Short texts are cut from a longer one, which is cheaper than to convert each of them. */
const textBetween = (routine: RowRoutine, start: number, end: number): string => {
  // Texts about the file, and joined values, are outside of the text.
  if (end - start <= copiedLengthMax && start >= textAt && end <= routine.textEnd) {
    const window = windowAt(routine, start, end);
    const text = window.latin1.slice(start - window.from, end - window.from);
    if (window.isAscii || isAsciiText(text)) return text;
  }
  return routine.bytes.toString('utf8', start, end);
};

export const newText = (routine: RowRoutine, textEnd: number): void => {
  routine.textEnd = textEnd;
  routine.window.to = routine.window.from;
};

/** The routines take records of at most `windowBytes`. */
const rowMax = ({ plan }: RowTable): number => plan.rowRoom + plan.perByte * windowBytes;

const putByText = (routine: RowRoutine, index: number, text: string, out: number, after: number): number => {
  const { target, table } = routine;
  const { encoders, plan } = table!;
  target.bytes = routine.rows;
  target.at = out;
  if (!encoders[index]!(text, after !== 0, target, routine.fields)) return 0;
  if (target.at === out) return after === 0 ? out : after;
  if (target.bytes !== routine.rows) return 0;
  // A value longer than planned must leave room for the rest of the row: see RowPlan.
  const isExpected = target.at - out <= plan.valuesMax[index]! + fieldShare * text.length;
  return isExpected || target.at + rowMax(table!) <= outEnd ? target.at : 0;
};

const placedFields = (routine: () => RowRoutine): PlacedFields => {
  const wordOf = (slot: number, offset: number): number =>
    wordAt(routine(), planAt + slotBytes * slot + offset);
  return {
    textOf: (slot) => {
      const text = textBetween(routine(), wordOf(slot, slotStart), wordOf(slot, slotEnd));
      // For `trim: 'outside'` in text without quotes, whole fields are trimmed.
      const isWhole = routine().table!.trim === 'outside' && wordAt(routine(), state.quote) === -1;
      return isWhole ? trimBlanks(text) : text;
    },
    isQuoted: (slot) => routine().bytes[wordOf(slot, slotStart) - 1] === wordAt(routine(), state.quote),
  };
};

/** If a user's function throws, answers 0: record-judge.ts then calls the function again. */
export const startRowRoutine = (): RowRoutine => {
  const routine: RowRoutine = Object.assign(startRoutines(), {
    table: undefined,
    textEnd: textAt,
    window: { from: 0, to: 0, isAscii: true, latin1: '' },
    target: { bytes: Buffer.alloc(0), at: 0 },
    fields: placedFields(() => routine),
  });
  routine.host.encodeByText = (index, start, end, out, after) => {
    try {
      return putByText(routine, index, textBetween(routine, start, end), out, after);
    } catch {
      return 0;
    }
  };
  routine.host.isWanted = () => {
    try {
      return routine.table!.isWanted!(routine.fields) ? wanted : unwanted;
    } catch {
      return wantedUnsure;
    }
  };
  return routine;
};

/** Puts a table's plan into memory, unless it is there. A thread may load several tables in turn. */
const setTable = (routine: RowRoutine, table: RowTable): void => {
  if (routine.table === table) return;
  const { plan } = table;
  routine.reserve(plan.bytes.length);
  routine.table = table;
  routine.bytes.set(plan.bytes, planAt);
  const values: readonly (readonly [number, number])[] = [
    [state.between, 4 * table.between],
    [state.rowRoom, plan.rowRoom],
    [state.perByte, plan.perByte],
    [state.slotsAt, planAt],
    [state.slotsEnd, plan.slotsEnd],
    [state.columnsAt, plan.columnsAt],
    [state.columnsEnd, plan.columnsEnd],
    [state.rowHead, ((table.columns & 0xff) << 8) | (table.columns >> 8)],
    [state.usesSlots, Number(plan.usesSlots)],
    [state.filter, Number(table.isWanted !== undefined)],
    [state.delimiter, table.grammar.delimiter[0]!],
    [state.delimiterAt, plan.delimiterAt],
    [state.delimiterBytes, table.grammar.delimiter.length],
    [state.isTextFormat, Number(table.isTextFormat)],
    [state.isCut, Number(table.isCut)],
    [state.lineAt, plan.lineAt],
  ];
  for (const [address, value] of values) setWord(routine, address, value);
};

/** `quote`: -1 if the text has no quotes. */
export const beginRows = (routine: RowRoutine, table: RowTable, quote: number): void => {
  setTable(routine, table);
  setWord(routine, state.quote, quote);
  // Without quotes, every field is outside of quotes.
  setWord(routine, state.trim, Number(table.trim === true || (table.trim === 'outside' && quote === -1)));
  setWord(routine, state.trimOutside, Number(table.trim === 'outside'));
  const isPlain = quote === -1 && table.trim === false && table.grammar.delimiter.length === 1;
  setWord(routine, state.isPlain, Number(isPlain));
};

/** True if the routines can find the records of such a file by themselves. */
export const canPass = ({ grammar }: RowTable): boolean =>
  grammar.lineEnd === 'lf' && grammar.delimiter.length === 1 && grammar.infix === undefined;

/** Sets what the pass must know, before it begins with a new text. */
export const beginPass = (routine: RowRoutine, table: RowTable): void => {
  const { quote, escape, escapesAll, keepEmpty, trim, comment } = table.grammar;
  beginRows(routine, table, quote);
  setWord(routine, state.understood, escape === quote ? -1 : 0);
  setWord(routine, state.keepEmpty, Number(keepEmpty));
  setWord(routine, state.dropsBlank, Number(trim && !keepEmpty));
  setWord(routine, state.comment, comment?.[0] ?? -1);
  setWord(routine, state.escape, escapesAll ? BACKSLASH : -1);
  setWord(routine, state.hasNullMark, Number(escapesAll && quote === -1));
  routine.beginPass(quote);
};

interface WindowPart {
  readonly next: number;
  readonly copied: number;
  readonly filtered: number;
  readonly isUnsure: boolean;
}

const loadWindow = (
  routine: RowRoutine,
  { bytes, spans: { starts, ends, lines }, position }: RecordBlock,
  from: number,
  to: number,
): number => {
  const text = bytes.subarray(starts[from], ends[to - 1]);
  const textStart = placeAlike(text, textAt);
  routine.bytes.fill(0, textAt, textStart);
  routine.bytes.set(text, textStart);
  routine.bytes.fill(0, textStart + text.length, textStart + text.length + groupBytes);
  routine.words.set(starts.subarray(from, to), startsAt >> 2);
  routine.words.set(ends.subarray(from, to), endsAt >> 2);
  routine.words.set(lines.subarray(from, to), linesAt >> 2);
  routine.bytes.writeBigInt64LE(BigInt(position.line), state.blockLine);
  newText(routine, textStart + text.length);
  return textStart;
};

/** Encodes records in parts. A part ends at a record for TypeScript, or when memory is full. */
export function* encodeWindow(
  routine: RowRoutine,
  block: RecordBlock,
  from: number,
  to: number,
  out: RowBytes,
): Generator<WindowPart, void> {
  const textStart = loadWindow(routine, block, from, to);
  const shift = textStart - block.spans.starts[from]!;
  let { textEnd } = routine;
  for (let at = 0; at < to - from;) {
    setWord(routine, state.out, outAt);
    const next = routine.encodeSpans(at, to - from, shift, textStart, textEnd);
    textEnd = 0;
    const [end, reason] = [wordAt(routine, state.out), wordAt(routine, state.reason)];
    reserve(out, end - outAt);
    putBytes(out, routine.bytes, outAt, end);
    // TypeScript also takes a record whose row exceeds the whole memory for rows.
    const isUnsure = reason === stoppedUnsure || (reason === stoppedFull && next === at);
    yield {
      next: from + next,
      copied: wordAt(routine, state.copied),
      filtered: wordAt(routine, state.filtered),
      isUnsure,
    };
    at = next + Number(isUnsure);
  }
}
