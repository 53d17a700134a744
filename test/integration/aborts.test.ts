// Runs that are aborted at random moments: nothing of them is left when they have ended.

import { expect, it } from 'vitest';
import { column, csv, definePipeline } from '../../src/index.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { createChance, searched } from '../helpers/seeded.ts';

const { database, files, rowsOf, run } = usePipelineRuns({ workers: 2 });

const pipeline = definePipeline({
  name: 'aborted',
  schema: 'aborted',
  tables: { t: { source: csv('in/*.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'] } },
});
/** Less than the files have together: the run needs its queue and loading threads. */
const options = { fullRefresh: true, chunkBytes: 2_000 };

const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind.includes('TCP')).length;

const sessions = () =>
  rowsOf(`select application_name from pg_stat_activity
    where datname = current_database() and application_name like 'sluice %'`);

it('an aborted run leaves no connection and no session, so the next one is not refused', async () => {
  const seed = Date.now();
  const chance = createChance(seed);
  for (const name of ['a', 'b'])
    files.write(
      `in/${name}.csv`,
      `id\n${Array.from({ length: 1_000 }, (_, row) => `${name === 'a' ? 1 : 2}${row}`).join('\n')}\n`,
    );
  await run(pipeline, options);
  const begin = performance.now();
  await run(pipeline, options);
  const spanMs = performance.now() - begin;
  await database.query('select 1');
  const open = sockets();
  for (let left = searched(20); left > 0; left -= 1) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error('stop')), chance.between(0, spanMs));
    const ended = await run(pipeline, { ...options, signal: stop.signal }).catch(({ code }) => ({
      outcome: code,
    }));
    clearTimeout(timer);
    expect({ seed, left, sockets: sockets(), sessions: await sessions() }).toEqual({
      seed,
      left,
      sockets: open,
      sessions: [],
    });
    expect(['published', 'ETL_INTERRUPTED']).toContain(ended.outcome);
  }
  expect(await run(pipeline, options)).toMatchObject({ outcome: 'published' });
});
