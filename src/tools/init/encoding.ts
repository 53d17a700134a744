// Guesses the encoding of a file from its first bytes.

import { isUtf8 } from 'node:buffer';
import type { EncodingName } from '../../input/encodings/labels.ts';
import { markedEncoding } from '../../input/encodings/marks.ts';

/** Assumed if a file is not UTF-8: the most frequent encoding in which all bytes are valid. */
export const guessedEncoding: EncodingName = 'windows-1252';

/** Share of NULs that indicates UTF-16, in which usually every second byte is NUL. */
const nulsMin = 0.3;

const shareOfNuls = (head: Buffer, first: number): number => {
  let nuls = 0;
  for (let at = first; at < head.length; at += 2) if (head[at] === 0) nuls += 1;
  return (2 * nuls) / Math.max(1, head.length);
};

const characterBytesMax = 4;

const isTextInUtf8 = (head: Buffer, isWhole: boolean): boolean => {
  if (isWhole) return isUtf8(head);
  for (let cut = 0; cut < characterBytesMax; cut += 1)
    if (isUtf8(head.subarray(0, head.length - cut))) return true;
  return false;
};

export const guessEncoding = (head: Buffer, isWhole: boolean): EncodingName => {
  const marked = markedEncoding(head);
  if (marked !== undefined) return marked;
  if (shareOfNuls(head, 1) > nulsMin) return 'utf-16le';
  if (shareOfNuls(head, 0) > nulsMin) return 'utf-16be';
  return isTextInUtf8(head, isWhole) ? 'utf-8' : guessedEncoding;
};
