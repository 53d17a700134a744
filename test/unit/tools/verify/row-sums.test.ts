// Sums of rows are exact beyond 2^53, and the hash of a row rotates each value by its column's
// index.

import { expect, it } from 'vitest';
import { createRowSums, decimalText, type Comparing } from '../../../../src/tools/verify/row-sums.ts';
import { textHash } from '../../../../src/tools/verify/text-hash.ts';

it('a sum is exact beyond 2^53', () => {
  const { add, sums } = createRowSums(['numbers']);
  for (let row = 0; row < 1_001; row += 1) add(['9999999999999.9']);
  const [{ sum } = { sum: null }] = sums().columns;
  expect(sum && decimalText(sum)).toBe('10009999999999899.9');
});

it('the hash of a row has those of its columns, each turned by its place', () => {
  const texts = Array.from({ length: 70 }, (_, place) => `text ${place}`);
  const { add, sums } = createRowSums(texts.map((): Comparing => 'values'));
  add(texts);
  const expected = texts.reduce((found, text, place) => {
    const { hi, lo } = textHash(text);
    const hash = BigInt.asUintN(64, BigInt(hi) * 2n ** 32n + BigInt(lo));
    const by = BigInt(place % 64);
    return found ^ ((hash << by) | (hash >> (64n - by)));
  }, 0n);
  expect(sums().rowHash).toBe(BigInt.asIntN(64, expected));
});
