// Memory layout of slots, columns and rules for the row routine, as offsets in bytes.

/** `place` is 4 times the field's index in the record; `start` and `end` are addresses. */
export const slot = { place: 0, start: 4, end: 8, bytes: 12 };

/** Offsets of a column's i32 values. The values of its kind follow them: see kinds.ts. */
export const column = {
  kind: 0,
  /**
   * Address of the column's slot; of a list of slots if fields are joined; or of a token if `parts`
   * is 0: the value for the whole file.
   */
  slots: 4,
  parts: 8,
  /** Addresses of token lists. */
  nulls: 12,
  tokens: 16,
  index: 20,
  /** 1 if user functions must see the values, also those that the routine can read. */
  hasFunction: 24,
  /** Address of the column's `ruleLayout`, or 0. */
  rules: 28,
  /** Address and length of the separator between joined fields. */
  separator: 32,
  separatorBytes: 36,
  /** Address of the null tokens for quoted fields: `nulls` or a part of them. */
  quotedNulls: 40,
  own: 44,
};

/** `least` and `most` are i64, or f64 for decimals. */
export const ruleLayout = {
  order: 0,
  /** Address of the token list of allowed values, or 0. */
  values: 4,
  hasLength: 8,
  charactersMin: 12,
  charactersMax: 16,
  least: 24,
  most: 32,
  bytes: 40,
};
/** What is compared with the bounds: nothing, an integer, a float, or the decimal text. */
export const order = { none: 0, whole: 1, float: 2, decimal: 3 };
