// NaN and infinity.

import { MINUS, PLUS } from './bytes';

export const notANumber: u32 = 1;
export const infinity: u32 = 2;
export const negativeInfinity: u32 = 3;

/** (start, end) -> one of the above, or 0. Accepts any case, `inf`, and a sign of infinity. */
export function scanSpecial(start: usize, end: usize): u32 {
  const first = <u32>load<u8>(start);
  const negative = <u32>(first == MINUS);
  const sign = negative | <u32>(first == PLUS);
  start += sign;
  const letters = load<u64>(start) | 0x2020202020202020;
  if (end - start == 3) {
    const word = letters & 0xffffff;
    if (word == 0x6e616e && sign == 0) return notANumber;
    return word == 0x666e69 ? infinity + negative : 0;
  }
  return end - start == 8 && letters == 0x7974696e69666e69 ? infinity + negative : 0;
}
