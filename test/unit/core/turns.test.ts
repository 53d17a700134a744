// Works that take turns. A queue that refuses is tested with the page's connections: test/integration/read-pool.test.ts.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../src/core/turns.ts';

const numbers = Array.from({ length: 160 }, (_, index) => index);

describe('createTurns', () => {
  it('lets no more work at a time than its bound, also after a failure', async () => {
    const inTurn = createTurns(3);
    const seen = { now: 0, most: 0, done: 0 };
    const works = numbers.map((number) =>
      inTurn(async () => {
        seen.now += 1;
        seen.most = Math.max(seen.most, seen.now);
        for (let turn = number % 16; turn < 16; turn += 1) await nextTurn();
        seen.now -= 1;
        seen.done += 1;
        if (number % 5 === 0) throw new Error(`file ${number}`);
      }),
    );
    await Promise.allSettled(works);
    expect(seen).toEqual({ now: 0, most: 3, done: numbers.length });
  });
});
