// Runs the row routine (WebAssembly) on a window: up to 64 KiB of records.

import { isAscii } from 'node:buffer';
import { placeAlike } from '../../core/shared-copy.ts';
import type { Dialect } from '../../core/declaration.ts';
import type { RecordBlock } from '../records/record-blocks.ts';
import { trimBlanks } from '../records/blanks.ts';
import { groupBytes, instantiate, pageBytes } from '../wasm-instance.ts';
import { putBytes, reserve, type RowBytes } from '../types/row-bytes.ts';
import { encoderBytes } from '../encoder/encoder-bytes.ts';
import { slot } from '../encoder/layouts.ts';
import {
  endsAt,
  linesAt,
  outAt,
  outEnd,
  planAt,
  startsAt,
  state,
  stopped,
  textAt,
  wanted,
} from '../encoder/memory.ts';
import { setTables } from '../encoder/tables.ts';
import { fieldShare, type RowPlan } from './row-plan.ts';
import type { TextEncoder } from './text-encoder.ts';

export interface RowTable {
  readonly plan: RowPlan;
  readonly delimiter: Buffer;
  readonly isTextFormat: boolean;
  readonly isCut: boolean;
  readonly trim: Dialect['trim'];
  readonly between: number;
  readonly columns: number;
  readonly encoders: readonly TextEncoder[];
  readonly isWanted: (() => boolean) | undefined;
}

interface WindowPart {
  readonly next: number;
  readonly copied: number;
  readonly filtered: number;
  readonly isUnsure: boolean;
}

/** Longer substrings are views in V8: a function that keeps one would keep the whole text. */
const copiedLengthMax = 12;

interface TextWindow {
  readonly bytes: Buffer;
  readonly end: number;
  readonly isAscii: boolean;
  readonly quote: string | undefined;
  whole: string | undefined;
}

const textWindow = (bytes: Buffer, end: number, quote: number): TextWindow => ({
  bytes,
  end,
  isAscii: isAscii(bytes.subarray(textAt, end)),
  quote: quote === -1 ? undefined : String.fromCharCode(quote),
  whole: undefined,
});

const isAsciiText = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
};

const textBetween = (window: TextWindow, start: number, end: number): string => {
  const { bytes, quote } = window;
  const isShort = end - start <= copiedLengthMax && start >= textAt && end <= window.end;
  if (isShort) {
    const whole = (window.whole ??= bytes.toString('latin1', textAt, window.end));
    const text = whole.slice(start - textAt, end - textAt);
    const isSame = (window.isAscii || isAsciiText(text)) && (quote === undefined || !text.includes(quote));
    if (isSame) return text;
  }
  // Texts about the file, and joined values, are outside of the window.
  const isAsciiWindow = window.isAscii && start >= textAt && end <= window.end;
  return bytes.toString(isAsciiWindow ? 'latin1' : 'utf8', start, end);
};

/** The table in the routine's memory. A thread may load several tables, block by block. */
let current: RowTable | undefined;

let textOfWindow: TextWindow;

/** If a user's function throws, returns 0: record-judge.ts then calls the function again. */
const { encodeRows, memory } = instantiate(encoderBytes, {
  encodeByText: (index, start, end, out, written) => {
    try {
      return putByText(current!, index, textBetween(textOfWindow, start, end), out, written);
    } catch {
      return 0;
    }
  },
  isWanted: () => {
    try {
      return current!.isWanted!() ? wanted.yes : wanted.no;
    } catch {
      return wanted.unsure;
    }
  },
});

/** Growing the memory invalidates these views. */
const viewsOf = (buffer: ArrayBuffer) => ({
  bytes: Buffer.from(buffer),
  words: new Int32Array(buffer),
  rows: Buffer.from(buffer, 0, outEnd),
});
let views = viewsOf(memory.buffer);
setTables(views.bytes);

const target: RowBytes = { bytes: views.rows, at: 0 };

const putByText = (
  { plan, encoders }: RowTable,
  index: number,
  text: string,
  out: number,
  written: number,
): number => {
  target.bytes = views.rows;
  target.at = out;
  if (!encoders[index]!(text, written !== 0, target)) return 0;
  if (target.at === out) return written === 0 ? out : written;
  if (target.bytes !== views.rows) return 0;
  // A value longer than planned must leave room for the rest of the row: see RowPlan.
  const isExpected = target.at - out <= plan.valuesMax[index]! + fieldShare * text.length;
  return isExpected || target.at + rowMax(plan) <= outEnd ? target.at : 0;
};

const rowMax = ({ rowRoom, perByte }: RowPlan): number => rowRoom + perByte * (textOfWindow.end - textAt);

/** Returns the text of a field. With `trim: true` it is not trimmed yet. */
export const fieldText = (index: number): string => {
  const at = (planAt + slot.bytes * index) >> 2;
  const [start, end] = [views.words[at + (slot.start >> 2)]!, views.words[at + (slot.end >> 2)]!];
  const text = textBetween(textOfWindow, start, end);
  return isTrimmedWhole() ? trimBlanks(text) : text;
};

export const isQuotedField = (index: number): boolean => {
  const start = views.words[(planAt + slot.bytes * index + slot.start) >> 2]!;
  return views.bytes[start - 1] === stateAt(state.quote);
};

/** True for `trim: 'outside'` in a block without quotes: whole fields are trimmed. */
const isTrimmedWhole = (): boolean => current!.trim === 'outside' && stateAt(state.quote) === -1;

const setState = (address: number, value: number): void => {
  views.words[address >> 2] = value;
};
const stateAt = (address: number): number => views.words[address >> 2]!;

export const beginRows = (table: RowTable, quote: number): void => {
  const { plan } = table;
  if (current !== table) {
    const missing = planAt + plan.bytes.length - views.bytes.length;
    if (missing > 0) {
      memory.grow(Math.ceil(missing / pageBytes));
      views = viewsOf(memory.buffer);
    }
    current = table;
    views.bytes.set(plan.bytes, planAt);
    setState(state.between, 4 * table.between);
    setState(state.rowRoom, plan.rowRoom);
    setState(state.perByte, plan.perByte);
    setState(state.slotsAt, planAt);
    setState(state.slotsEnd, plan.slotsEnd);
    setState(state.columnsAt, plan.columnsAt);
    setState(state.columnsEnd, plan.columnsEnd);
    setState(state.rowHead, ((table.columns & 0xff) << 8) | (table.columns >> 8));
    setState(state.filter, Number(table.isWanted !== undefined));
    setState(state.delimiter, table.delimiter[0]!);
    setState(state.isTextFormat, Number(table.isTextFormat));
    setState(state.isCut, Number(table.isCut));
    setState(state.lineAt, plan.lineAt);
    setState(state.delimiterAt, plan.delimiterAt);
    setState(state.delimiterBytes, table.delimiter.length);
  }
  setState(state.quote, quote);
  // Without quotes, every field is outside of quotes.
  setState(state.trim, Number(table.trim === true || isTrimmedWhole()));
  setState(state.trimOutside, Number(table.trim === 'outside'));
};

const loadWindow = (
  { bytes, spans: { starts, ends, lines }, position }: RecordBlock,
  from: number,
  to: number,
): { readonly textStart: number; readonly textEnd: number } => {
  const text = bytes.subarray(starts[from], ends[to - 1]);
  const textStart = placeAlike(text, textAt);
  const textEnd = textStart + text.length;
  views.bytes.fill(0, textAt, textStart);
  views.bytes.set(text, textStart);
  views.bytes.fill(0, textEnd, textEnd + groupBytes);
  views.words.set(starts.subarray(from, to), startsAt >> 2);
  views.words.set(ends.subarray(from, to), endsAt >> 2);
  if (current!.plan.lineAt !== 0) {
    views.bytes.writeBigInt64LE(BigInt(position.line), state.blockLine);
    views.words.set(lines.subarray(from, to), linesAt >> 2);
  }
  textOfWindow = textWindow(views.bytes, textEnd, stateAt(state.quote));
  return { textStart, textEnd };
};

/** Encodes records in parts. A part ends at a record for JavaScript, or when memory is full. */
export function* encodeWindow(
  block: RecordBlock,
  from: number,
  to: number,
  out: RowBytes,
): Generator<WindowPart, void> {
  const loaded = loadWindow(block, from, to);
  const shift = loaded.textStart - block.spans.starts[from]!;
  let { textEnd } = loaded;
  for (let at = 0; at < to - from;) {
    setState(state.out, outAt);
    const next = encodeRows(at, to - from, shift, textEnd);
    textEnd = 0;
    const [end, reason] = [stateAt(state.out), stateAt(state.reason)];
    reserve(out, end - outAt);
    putBytes(out, views.bytes, outAt, end);
    // JavaScript also takes a record whose row exceeds the whole memory for rows.
    const isUnsure = reason === stopped.unsure || (reason === stopped.full && next === at);
    yield {
      next: from + next,
      copied: stateAt(state.copied),
      filtered: stateAt(state.filtered),
      isUnsure,
    };
    at = next + Number(isUnsure);
  }
}
