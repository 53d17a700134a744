// Shows the bytes of any record as text that can be stored.

import { isUtf8 } from 'node:buffer';
import { rejectRawBytesMax } from '../../core/limits.ts';

const escapeByte = (byte: number): string => `\\x${byte.toString(16).padStart(2, '0')}`;

const characterStart = (bytes: Buffer, at: number): number => {
  let start = at;
  while (start > 0 && at - start < 3 && (bytes[start]! & 0xc0) === 0x80) start -= 1;
  return start;
};

/** Writes NUL and invalid bytes as \xNN. Keeps at most `rejectRawBytesMax` bytes. */
export const rawText = (bytes: Buffer): string => {
  const isCut = bytes.length > rejectRawBytesMax;
  const kept = isCut ? bytes.subarray(0, characterStart(bytes, rejectRawBytesMax)) : bytes;
  const ending = isCut ? '…' : '';
  if (isStorable(kept)) return kept.toString() + ending;
  let text = '';
  for (let at = 0; at < kept.length;) {
    const length = characterLength(kept, at);
    text += length === 0 ? escapeByte(kept[at]!) : kept.toString('utf8', at, at + length);
    at += Math.max(1, length);
  }
  return text + ending;
};

const characterLength = (bytes: Buffer, at: number): number => {
  if (bytes[at] === 0) return 0;
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1)
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  return 0;
};

export const isStorable = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);
