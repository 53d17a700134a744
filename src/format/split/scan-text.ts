// Runs the record scan on a window of text.

import { instantiate } from '../wasm/instance.ts';
import { scanBytes } from './scan-bytes.ts';
import { endsAt, linesAt, startsAt, state, windowAt, windowBytes } from './scan-memory.ts';

const CR = 13;

const { scanGroups, memory } = instantiate(scanBytes, {});
const { buffer } = memory;

/** What the pass reads and writes: text in, lists out, and its state from window to window. */
export const scanMemory = {
  text: new Uint8Array(buffer, windowAt, windowBytes),
  /** The byte before the text. */
  before: new Uint8Array(buffer, windowAt - 1, 1),
  starts: new Int32Array(buffer, startsAt, windowBytes),
  ends: new Int32Array(buffer, endsAt, windowBytes),
  lines: new Int32Array(buffer, linesAt, windowBytes),
  state: new Int32Array(buffer, 0, Object.keys(state).length),
};

/** How quotes are read. */
export interface QuoteRule {
  /** -1: there are none. */
  readonly quote: number;
  /** -1: it is not one byte, or a quote is not escaped by doubling it; then every quote is irregular. */
  readonly delimiter: number;
  readonly keepEmpty: boolean;
}

/** Scans bytes [from, to) of the text, which is at `base` in its block; returns the place reached, or -1. */
export const scanText = (from: number, to: number, base: number, rule: QuoteRule): number =>
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
