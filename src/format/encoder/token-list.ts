// Memory layout of token lists.

/**
 * A hash table. `lengths` has a bit for each length of a token (bit 31: 31 bytes or longer).
 * `shift` reduces a hash to a slot number. At least half of the slots are empty. A token is in the
 * slot of its hash, or in the next slot that was free.
 */
export const tokenList = { lengths: 0, shift: 4, slots: 8, first: 12 };
/** `valueBytes`: -1 if the record is refused · `length`: -1 if the slot is empty. */
export const token = { at: 0, length: 4, valueAt: 8, valueBytes: 12, key: 16, bytes: 24 };
/** Factor of the hash: 2^64 divided by the golden ratio. D. E. Knuth, TAOCP 3, 6.4. */
export const hashFactor = 0x9e3779b97f4a7c15n;
/** The token of `_line`. Its value is a length and a bigint (binary), or digits (text). */
export const lineToken = { valueAt: token.bytes, valueMax: 20, bytes: token.bytes + 20 };
