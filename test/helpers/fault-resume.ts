// The run after a process was killed: loads exactly the chunks that were missing.

import { expect } from 'vitest';
import { eventsOf, expectEnd, type Ended } from './fault-child.ts';
import { chunksOf, expectNoSessions, stateOf, tableNumbers } from './fault-outcome.ts';
import type { Scene } from './fault-scene.ts';

/** Runs again, and proves that what was loaded before is still the same, counted by the run, and not loaded again. */
export const resumeAfterKill = async ({ url, run }: Scene): Promise<Ended> => {
  // A commit that was on its way arrives, or does not.
  await expectNoSessions(url);
  const before = await chunksOf(url);
  const state = await stateOf(url);
  if (state !== 'published') expect(await tableNumbers(url)).toEqual([]);
  const second = await run();
  expectEnd(second, 0);
  const after = await chunksOf(url);
  expect(after).toEqual(expect.arrayContaining([...before]));
  const isResumed = state !== undefined && state !== 'published';
  const records = before.reduce((sum, chunk) => sum + chunk.records, 0);
  expect(eventsOf(second, 'resumed')).toEqual(
    isResumed ? [expect.objectContaining({ chunks: before.length, records })] : [],
  );
  return second;
};
