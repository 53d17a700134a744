// Files that are handled several at a time give the same results as one after the other.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { filesAtOnceMax, withFilesAtOnce } from '../../../../src/input/sources/at-once.ts';

const numbers = Array.from({ length: 10 * filesAtOnceMax }, (_, index) => index);

/** Takes longer for the first file of a group than for the last. */
const slowly = async (index: number): Promise<void> => {
  for (let turn = index % filesAtOnceMax; turn < filesAtOnceMax; turn += 1) await nextTurn();
};

describe('withFilesAtOnce', () => {
  it('gives results in the order of the files, whichever is done first', async () => {
    const results = await withFilesAtOnce(numbers, async (number, index) => {
      await slowly(index);
      return number * 2;
    });
    expect(results).toEqual(numbers.map((number) => number * 2));
    expect(await withFilesAtOnce([], () => Promise.resolve(1))).toEqual([]);
  });

  it('works on several, and on no more than its bound', async () => {
    const seen = { now: 0, most: 0 };
    await withFilesAtOnce(numbers, async (_, index) => {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await slowly(index);
      seen.now -= 1;
    });
    expect(seen).toEqual({ now: 0, most: filesAtOnceMax });
  });

  it('reports the first failure in the order of the files, and begins nothing after one', async () => {
    const begun: number[] = [];
    const failing = withFilesAtOnce(numbers, async (number, index) => {
      begun.push(number);
      await slowly(index);
      if (number >= 3) throw new Error(`file ${number}`);
    });
    await expect(failing).rejects.toThrow('file 3');
    expect(begun.length).toBeLessThan(2 * filesAtOnceMax);
  });
});
