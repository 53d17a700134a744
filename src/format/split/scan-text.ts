// Runs the record scan on a window of text.

import { instantiate } from '../wasm/instance.ts';
import { scanBytes } from './scan-bytes.ts';
import { endsAt, linesAt, startsAt, state, windowAt, windowBytes } from './scan-memory.ts';

const CR = 13;

const { scanGroups, memory } = instantiate(scanBytes, {});
const { buffer } = memory;

/** The scan's memory: text in, lists of records out, and the state that is kept between windows. */
export const scanMemory = {
  text: new Uint8Array(buffer, windowAt, windowBytes),
  /** The byte before the text. */
  before: new Uint8Array(buffer, windowAt - 1, 1),
  starts: new Int32Array(buffer, startsAt, windowBytes),
  ends: new Int32Array(buffer, endsAt, windowBytes),
  lines: new Int32Array(buffer, linesAt, windowBytes),
  state: new Int32Array(buffer, 0, Object.keys(state).length),
};

/** How the scan reads quotes. */
export interface QuoteRule {
  /** -1 if the dialect has no quotes. */
  readonly quote: number;
  /** -1 if the delimiter has several bytes, or quotes are not doubled: all quotes are irregular. */
  readonly delimiter: number;
  readonly keepEmpty: boolean;
}

/**
 * Scans bytes [from, to) of the text. `base` is the text's offset in the block. Returns the first
 * byte not scanned, or a negative number if a record is irregular.
 */
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
