// Slots, columns and their rules in the memory of the row routine, as offsets.

/** A field that is wanted: 4 x its place in the record, and its position in the current one. */
export const slot = { place: 0, start: 4, end: 8, bytes: 12 };

/** A column, as offsets of i32; what is its kind's own follows: see kinds.ts. */
export const column = {
  kind: 0,
  /** Address of its slot, of the list of its slots when it is glued, or of a token when it has no parts: its value in the file. */
  slots: 4,
  parts: 8,
  /** Addresses of token lists. */
  nulls: 12,
  tokens: 16,
  /** Its place among the table's columns. */
  index: 20,
  /** 1: functions of the pipeline see its values, also those that the routine reads. */
  hasFunction: 24,
  /** Address of its `ruleLayout`, or 0. */
  rules: 28,
  /** Address and length of the bytes between the fields of a joined value. */
  separator: 32,
  separatorBytes: 36,
  /** Address of the token list for quoted fields: some of `nulls`, or all of them. */
  quotedNulls: 40,
  own: 44,
};

/** What values must be; `least` and `most` are of i64, of f64 for decimals. */
export const ruleLayout = {
  order: 0,
  /** Address of the token list that has the value, or 0. */
  values: 4,
  /** 0 or 1. */
  hasLength: 8,
  charactersMin: 12,
  charactersMax: 16,
  least: 24,
  most: 32,
  bytes: 40,
};
/** How a value is compared with its bounds: not at all, as it is written, or by its text. */
export const order = { none: 0, whole: 1, float: 2, decimal: 3 };
