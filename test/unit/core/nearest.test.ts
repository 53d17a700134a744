// The known name that a misspelled name probably means.

import { expect, it } from 'vitest';
import { nearest } from '../../../src/core/nearest.ts';

const cases: readonly { name: string; known: readonly string[]; found: string | undefined }[] = [
  { name: 'colum', known: ['table', 'column'], found: 'column' },
  { name: 'DRYBULB', known: ['dryBulb', 'wetBulb'], found: 'dryBulb' },
  { name: 'stiation', known: ['station'], found: 'station' },
  { name: 'satte', known: ['state', 'saute'], found: 'state' },
  { name: 'date', known: ['data', 'date '], found: 'data' },
  { name: 'a', known: ['b', 'c'], found: undefined },
  { name: 'ab', known: ['ac'], found: undefined },
  { name: 'abc', known: ['abd'], found: 'abd' },
  { name: 'temperature', known: ['pressure'], found: undefined },
  { name: '', known: ['a', ''], found: '' },
  { name: 'anything', known: [], found: undefined },
];

it.each(cases)('of $known, $name means $found', ({ name, known, found }) => {
  expect(nearest(name, known)).toBe(found);
});
