// The counters that every column has.

export const counterOf = { empty: 0, blank: 1, text: 2 } as const;
