// Reads texts from the window in the row routine's memory, most of them as substrings of one
// string.

import { isAscii } from 'node:buffer';
import { textAt } from '../encoder/memory.ts';

/** Longer substrings are views in V8: a function that keeps one would keep the whole window. */
const copiedLengthMax = 12;

/** The window in memory. */
export interface TextWindow {
  readonly bytes: Buffer;
  readonly end: number;
  readonly isAscii: boolean;
  /** The quote, which may be doubled in the window. Undefined if the window has no quotes. */
  readonly quote: string | undefined;
  /** The window as latin1, before the routine undoubles quotes. Made on first use. */
  whole: string | undefined;
}

/** A window that starts at `textAt`. `quote` is -1 if it has no quotes. */
export const textWindow = (bytes: Buffer, end: number, quote: number): TextWindow => ({
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

/** Bytes [start, end) of the memory as text. */
export const textBetween = (window: TextWindow, start: number, end: number): string => {
  const { bytes, quote } = window;
  const isShort = end - start <= copiedLengthMax && start >= textAt && end <= window.end;
  if (isShort) {
    const whole = (window.whole ??= bytes.toString('latin1', textAt, window.end));
    const text = whole.slice(start - textAt, end - textAt);
    const isSame = (window.isAscii || isAsciiText(text)) && (quote === undefined || !text.includes(quote));
    if (isSame) return text;
  }
  // Texts of the file, and joined values, are outside of the window.
  const isAsciiWindow = window.isAscii && start >= textAt && end <= window.end;
  return bytes.toString(isAsciiWindow ? 'latin1' : 'utf8', start, end);
};
