// The thread that reads a stream for all workers ends by itself: one clear error, and the next run loads what is missing.

import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { chunksOf, expectNoSessions, stateOf, tableNumbers } from '../helpers/fault-outcome.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { useScene } from '../helpers/fault-scene.ts';

const scene = useScene('httpData');
const ending = join(import.meta.dirname, 'end-reader.mjs');

const before = { ...process.env };
const restore = (): void => {
  for (const name of ['NODE_OPTIONS', 'READER_ENDS'])
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
};
afterEach(restore);

it.each([
  // Enough for `etl`, and soon filled.
  { way: 'memory', options: '--max-old-space-size=96', says: /out of memory/i },
  { way: 'error', options: '', says: /nobody catches this/ },
  { way: 'exit', options: '', says: /before the end of its file/ },
])('by its $way: the run stops, and the next one goes on', async ({ way, options, says }) => {
  process.env['NODE_OPTIONS'] = `${options} --import ${ending}`;
  process.env['READER_ENDS'] = way;
  const ended = await scene().run();
  restore();
  expectEnd(ended, 1, 'ETL_THREAD_ENDED');
  expect(ended.error!.message).toMatch(says);
  expect(ended.error!.message).toMatch(/001hourly\.txt/);
  await expectNoSessions(scene().url);
  expect(await tableNumbers(scene().url)).toEqual([]);
  expect(await stateOf(scene().url)).toBe('failed');
  const kept = await chunksOf(scene().url);
  expect(kept.length).toBeGreaterThan(2);
  const resumed = await resumeAfterKill(scene());
  expect(eventsOf(resumed, 'finished')[0]!.result.outcome).toBe('published');
  await scene().expectWhole();
});
