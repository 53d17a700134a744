// Booleans: the server's words, or declared words.

import { tokenValueAt, wordOther, wordWords } from './layouts';
import { findToken } from './tokens';

@inline
function putByte(out: usize, byte: u32): usize {
  store<u32>(out, 0x01000000);
  store<u8>(out, <u8>byte, 4);
  return out + 5;
}

/** Words of up to five letters, as bytes from the lowest; 1 and 0 have no capitals. */
const wordT: u64 = 0x74;
const wordTrue: u64 = 0x65757274;
const wordY: u64 = 0x79;
const wordYes: u64 = 0x736579;
const wordOn: u64 = 0x6e6f;
const wordF: u64 = 0x66;
const wordFalse: u64 = 0x65736c6166;
const wordN: u64 = 0x6e;
const wordNo: u64 = 0x6f6e;
const wordOff: u64 = 0x66666f;

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readBoolean(column: usize, start: usize, end: usize, out: usize): usize {
  const length = end - start;
  if (length == 1) {
    const digit = <u32>load<u8>(start) - 0x30;
    if (digit < 2) return putByte(out, digit);
  }
  if (length > 5) return 0;
  const mask = ((<u64>1) << (<u64>length << 3)) - 1;
  const word = (load<u64>(start) & mask) | (mask & 0x2020202020202020);
  if (word == wordT || word == wordTrue || word == wordY || word == wordYes || word == wordOn)
    return putByte(out, 1);
  if (word == wordF || word == wordFalse || word == wordN || word == wordNo || word == wordOff)
    return putByte(out, 0);
  return 0;
}

/** Reads declared words; other texts mean what the column says, or TypeScript must decide. */
export function readWord(column: usize, start: usize, end: usize, out: usize): usize {
  const found = findToken(load<u32>(column, wordWords), start, end);
  const byte = found == 0 ? load<i32>(column, wordOther) : <i32>load<u8>(load<u32>(found, tokenValueAt));
  return byte == -1 ? 0 : putByte(out, byte);
}
