// Freezes what a pipeline declares, so that no stage can change it.

/** Freezes plain objects and lists all the way down; Zod schemas and functions are left alone. */
export const freezeDeep = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || !isPlain(value)) return value;
  for (const part of Object.values(value)) freezeDeep(part);
  return Object.freeze(value);
};

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
};
