// Offsets at which bytes are copied to or from shared memory.

import { expect, it } from 'vitest';
import { placeAlike, wordBytes } from '../../../src/core/shared-copy.ts';

it('is the first place that is aligned as the bytes are', () => {
  const memory = new Uint8Array(64);
  for (let from = 0; from < 2 * wordBytes; from += 1)
    for (let at = 0; at < 2 * wordBytes; at += 1) {
      const place = placeAlike(memory.subarray(from), at);
      expect(place % wordBytes).toBe(from % wordBytes);
      expect([place >= at, place < at + wordBytes]).toEqual([true, true]);
    }
});
