// Tests a column's rules (`.min`, `.max`, `.oneOf`, `.length`) on the value just written.

import {
  orderDecimal,
  orderFloat,
  ruleCharactersMax,
  ruleCharactersMin,
  ruleHasLength,
  ruleLeast,
  ruleMost,
  ruleOrder,
  ruleValues,
} from './layouts';
import { powersAt } from './memory';
import { isNegative, noDecimal, scaleOf, scanDecimal, valueOf } from './decimal';
import { swap64 } from './put';
import { findToken } from './tokens';

/** Compares numbers as integers. Inverting the bits of negative floats keeps the floats' order. */
function isWrittenBetween(rules: usize, out: usize): bool {
  const unused = 64 - ((<u64>load<u8>(out, 3)) << 3);
  let value = <i64>swap64(load<u64>(out, 4)) >> <i64>unused;
  if (load<u32>(rules, ruleOrder) == orderFloat && value < 0) value ^= <i64>(u64.MAX_VALUE >> (unused + 1));
  return value >= load<i64>(rules, ruleLeast) && value <= load<i64>(rules, ruleMost);
}

function isDecimalBetween(rules: usize, start: usize, end: usize): bool {
  const decimal = scanDecimal(start, end);
  if (decimal == noDecimal) return false;
  let value = <f64>valueOf(decimal) / load<f64>(powersAt + 8 * scaleOf(decimal));
  if (isNegative(decimal) != 0) value = -value;
  return !(value < load<f64>(rules, ruleLeast)) && !(value > load<f64>(rules, ruleMost));
}

/** A text has as many characters as bytes if it is ASCII, otherwise fewer. */
function isLengthFine(rules: usize, start: usize, end: usize): bool {
  const length = <u32>(end - start);
  const least = load<u32>(rules, ruleCharactersMin);
  if (length > load<u32>(rules, ruleCharactersMax) || length < least) return false;
  // A character has up to four bytes, so four times the minimum in bytes is long enough.
  if (least > 1 && length < 4 * least)
    for (; start < end; start += 1) if (load<u8>(start) >= 0x80) return false;
  return true;
}

/** (rules, start, end, address of the value) -> 1 if it obeys the rules, 0: TypeScript decides. */
export function obeysRules(rules: usize, start: usize, end: usize, out: usize): u32 {
  const order = load<u32>(rules, ruleOrder);
  if (order == orderDecimal) {
    if (!isDecimalBetween(rules, start, end)) return 0;
  } else if (order != 0 && !isWrittenBetween(rules, out)) return 0;
  const values = load<u32>(rules, ruleValues);
  if (values != 0 && findToken(values, start, end) == 0) return 0;
  return <u32>(load<u32>(rules, ruleHasLength) == 0 || isLengthFine(rules, start, end));
}
