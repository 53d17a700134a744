// Numbers by chance that a seed gives again, and numbers that the environment gives.

export interface Chance {
  /** A whole number from `least` to `most`. */
  readonly between: (least: number, most: number) => number;
  readonly pick: <T>(values: readonly T[]) => T;
}

/** Source: the generator "mulberry32", which is in the public domain. */
export const createChance = (seed: number): Chance => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return { between, pick: (values) => values[between(0, values.length - 1)]! };
};

/** A variable that is a whole number from 1. */
export const readCount = (name: string, otherwise: number): number => {
  const given = process.env[name] ?? String(otherwise);
  if (!/^[1-9]\d*$/.test(given)) throw new Error(`${name} is a number from 1, not ${given}`);
  return Number(given);
};

/**
 * How many generated cases a property is tried with: what `npm test` has time for, times the variable FUZZ. CI searches longer.
 */
export const searched = (usual: number): number => usual * readCount('FUZZ', 1);
