// A bounded number of things that are used again, each by one user at a time.

export interface Pool<Thing> {
  /** Takes one that is free, or a new one if there may be more; waits for one otherwise. */
  readonly take: () => Promise<Thing>;
  /** Gives one back; undefined: it is lost. */
  readonly give: (thing: Thing | undefined) => void;
}

/** Makes a pool of at most `most` things, which `make` makes; those of `idle` are made already. */
export const createPool = <Thing>(most: number, make: () => Thing, idle: Thing[] = []): Pool<Thing> => {
  const waiting: ((thing: Thing) => void)[] = [];
  let count = idle.length;
  return {
    take: async () => {
      const free = idle.pop();
      if (free !== undefined) return free;
      if (count === most) return new Promise((resolve) => waiting.push(resolve));
      count += 1;
      return make();
    },
    give: (thing) => {
      const next = waiting.shift();
      if (next !== undefined) next(thing ?? make());
      else if (thing !== undefined) idle.push(thing);
      else count -= 1;
    },
  };
};
