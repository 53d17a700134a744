// Memory layout of slots (where fields were found), columns and rules, as offsets in bytes.

/** `place` is 4 times the field's index in the record; `start` and `end` are addresses. */
export const slot = { place: 0, start: 4, end: 8, bytes: 12 };

export const column = {
  kind: 0,
  /** Address of a slot; of a list of slots if fields are joined; of a token if `parts` is 0. */
  slots: 4,
  parts: 8,
  nulls: 12,
  tokens: 16,
  index: 20,
  hasFunction: 24,
  rules: 28,
  separator: 32,
  separatorBytes: 36,
  quotedNulls: 40,
  own: 44,
};

/** `least` and `most` are i64, or f64 for decimals. */
export const ruleLayout = {
  order: 0,
  values: 4,
  hasLength: 8,
  charactersMin: 12,
  charactersMax: 16,
  least: 24,
  most: 32,
  bytes: 40,
};
export const order = { none: 0, whole: 1, float: 2, decimal: 3 };
