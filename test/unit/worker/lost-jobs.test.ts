// What is asked for again of a run that the ledger knows.

import { expect, it } from 'vitest';
import { requestOfRun } from '../../../src/worker/lost-jobs.ts';

it('a secret parameter, which the ledger does not show, is left to its default', () => {
  const row = { pipeline: 'p', definition: '0'.repeat(64), params: { key: '***', year: 2011 } };
  expect(requestOfRun(row, 'run-1').params).toEqual({ year: 2011 });
});
