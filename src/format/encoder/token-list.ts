// Lists of tokens in the memory of the row routine: hash tables.

/**
 * Tokens in a hash table: a bit for each length that one has (the last bit: 31 and longer), how far a hash is shifted, and its
 * slots, of which at least half are empty. A token is in the slot of its hash, or in the next one that was empty.
 */
export const tokenList = { lengths: 0, shift: 4, slots: 8, first: 12 };
/** A token, its last bytes, and what is written for it; `valueBytes` is -1: the record is refused; `length` -1: empty. */
export const token = { at: 0, length: 4, valueAt: 8, valueBytes: 12, key: 16, bytes: 24 };
/** Factor of the hash: 2^64 divided by the golden ratio. D. E. Knuth, TAOCP 3, 6.4. */
export const hashFactor = 0x9e3779b97f4a7c15n;
/** The token of a line, followed by room for its value: COPY's length of a bigint and the number, or the most digits of one. */
export const lineToken = { valueAt: token.bytes, valueMax: 20, bytes: token.bytes + 20 };
