// Finds the bytes of a group at which a record is not regular: structure.ts says what is.

import { CR, LF } from './bytes';

/** Shifts each bit to the next byte. `first` is the bit of the byte before the group. */
@inline
function follows(found: u64, first: bool): u64 {
  return (found << 1) | <u64>first;
}

/**
 * The irregular bytes of a group: its lines, CRs, quotes, delimiters, and those inside quotes.
 * `before` is the byte before the group; `isOutside`: it is outside of quotes; `isStart`: a record
 * begins with the group.
 */
@inline
export function irregular(
  lines: u64,
  returns: u64,
  quotes: u64,
  delimiters: u64,
  inside: u64,
  before: u32,
  quote: i32,
  delimiter: u32,
  isOutside: bool,
  isStart: bool,
): u64 {
  const afterReturn = follows(returns, before == CR) & ~lines;
  const mayOpen = isStart || before == delimiter || before == LF || before == <u32>quote;
  const opening = quotes & inside & ~follows(delimiters | lines | quotes, mayOpen);
  const closed = follows(quotes & ~inside, before == <u32>quote && isOutside);
  return afterReturn | opening | (closed & ~(delimiters | lines | quotes | returns));
}
