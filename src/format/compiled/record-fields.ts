// Finds the fields of a record that are wanted, from the delimiters of its block: quotes taken off, blanks where asked.

import type { Dialect } from '../../declaration.ts';
import type { FieldPlaces } from './column-encoder.ts';

const SPACE = 32;
const TAB = 9;

/** First byte of [start, end) that is no blank or tab. */
const afterBlanks = (bytes: Buffer, start: number, end: number): number => {
  let at = start;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at += 1;
  return at;
};

/** The byte after the last of [start, end) that is no blank or tab. */
const beforeBlanks = (bytes: Buffer, start: number, end: number): number => {
  let at = end;
  while (at > start && (bytes[at - 1] === SPACE || bytes[at - 1] === TAB)) at -= 1;
  return at;
};

/** Takes blanks and tabs off the fields with these indexes. */
export const trimFields = (
  bytes: Buffer,
  indexes: readonly number[],
  { starts, ends }: FieldPlaces,
): void => {
  for (let each = 0; each < indexes.length; each += 1) {
    const index = indexes[each]!;
    const start = afterBlanks(bytes, starts[index]!, ends[index]!);
    starts[index] = start;
    ends[index] = beforeBlanks(bytes, start, ends[index]!);
  }
};

/** Sets the places of the wanted fields of record [start, end), whose first delimiter is the `first` of `delimiters`. */
export const placeFields = (
  delimiters: Int32Array,
  first: number,
  start: number,
  end: number,
  indexes: readonly number[],
  { starts, ends }: FieldPlaces,
): void => {
  const last = starts.length - 1;
  for (let each = 0; each < indexes.length; each += 1) {
    const index = indexes[each]!;
    starts[index] = index === 0 ? start : delimiters[first + index - 1]! + 1;
    ends[index] = index === last ? end : delimiters[first + index]!;
  }
};

/** True when one of bytes [from, to) is the quote. */
const holdsQuote = (bytes: Buffer, from: number, to: number, quote: number): boolean => {
  for (let at = from; at < to; at += 1) if (bytes[at] === quote) return true;
  return false;
};

/** Takes the quotes off the wanted fields; gives the bytes in which they now stand. */
export type Unquote = (bytes: Buffer, indexes: readonly number[], fields: FieldPlaces) => Buffer;

/**
 * Makes the unquoting of records without a fault: a field that begins with a quote ends with one, and a quote within is
 * doubled. A record with a doubled quote in a wanted field is copied, without the doubles.
 */
export const createUnquote = ({ trim }: Dialect, quote: number): Unquote => {
  let copy = Buffer.alloc(0);
  const copyUndoubled = (bytes: Buffer, indexes: readonly number[], { starts, ends }: FieldPlaces): void => {
    let length = 0;
    for (const index of indexes) length += ends[index]! - starts[index]!;
    if (copy.length < length) copy = Buffer.allocUnsafeSlow(2 * length);
    let to = 0;
    for (const index of indexes) {
      const end = ends[index]!;
      let at = starts[index]!;
      starts[index] = to;
      for (; at < end; at += 1) {
        copy[to++] = bytes[at]!;
        if (bytes[at] === quote) at += 1;
      }
      ends[index] = to;
    }
  };
  return (bytes, indexes, fields) => {
    const { starts, ends } = fields;
    let hasDoubled = false;
    for (const index of indexes) {
      const start = trim ? afterBlanks(bytes, starts[index]!, ends[index]!) : starts[index]!;
      const end = trim ? beforeBlanks(bytes, start, ends[index]!) : ends[index]!;
      if (start === end || bytes[start] !== quote) continue;
      starts[index] = start + 1;
      ends[index] = end - 1;
      hasDoubled ||= holdsQuote(bytes, start + 1, end - 1, quote);
    }
    if (!hasDoubled) return bytes;
    copyUndoubled(bytes, indexes, fields);
    return copy;
  };
};
