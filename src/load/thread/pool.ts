// A bounded number of reused resources, each with one user at a time.

export interface Pool<Thing> {
  /** Returns an idle or a new resource. At the bound, waits until a resource is given back. */
  readonly take: () => Promise<Thing>;
  readonly give: (thing: Thing | undefined) => void;
}

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
