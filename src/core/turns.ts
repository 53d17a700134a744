// Turns: of many works, only some go on at a time.

export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Lets `atOnce` works go on at a time; others wait in the order in which they came. `admit` is called
 * with the number of those that wait already, before another one does, and throws to refuse it.
 */
export const createTurns = (atOnce: number, admit: (waiting: number) => void = () => undefined): InTurn => {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else {
      admit(waiting.length);
      await new Promise<void>((begin) => void waiting.push(begin));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
};
