// Freezes the declaration of a pipeline, so that no step of a run can change it.

export const freezeDeep = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || !isPlain(value)) return value;
  for (const part of Object.values(value)) freezeDeep(part);
  return Object.freeze(value);
};

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
};
