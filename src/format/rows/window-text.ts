// Texts out of the window that is in the row routine's memory, most of them without a decoder.

import { isAscii } from 'node:buffer';
import { textAt } from '../encoder/memory.ts';

/** In V8 a longer part of a string is a view of it: a function that keeps the part would keep the whole window. */
const copiedLengthMax = 12;

/** The window as the memory holds it. */
export interface TextWindow {
  readonly bytes: Buffer;
  readonly end: number;
  readonly isAscii: boolean;
  /** The character that may be doubled in the window; undefined: none is. */
  readonly quote: string | undefined;
  /** A character a byte, before the routine takes off doubled quotes; made when it is first needed. */
  whole: string | undefined;
}

/** A window from `textAt` on; `quote` is -1 when it holds none. */
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
  // Texts of the file, and what they are glued to, are none of the window's.
  const isAsciiWindow = window.isAscii && start >= textAt && end <= window.end;
  return bytes.toString(isAsciiWindow ? 'latin1' : 'utf8', start, end);
};
