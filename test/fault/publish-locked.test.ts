// A reader that does not go away: publishing says whom it waits for, and gives up with everything that is loaded kept.

import { expect, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { tableNumbers } from '../helpers/fault-outcome.ts';
import { useScene } from '../helpers/fault-scene.ts';
import { withPg } from '../helpers/own-server.ts';

const scene = useScene();

it('a table is locked for good: ETL_PUBLISH_LOCKED names the process; without it the next run publishes', async () => {
  await scene().run();
  const before = await tableNumbers(scene().url);
  await withPg(scene().url, async (reader) => {
    const { pid } = (await reader.query('select pg_backend_pid() as pid')).rows[0];
    await reader.query('begin; lock table noaa.daily in access share mode');
    const ended = await scene().run('--full-refresh');
    expectEnd(ended, 1, 'ETL_PUBLISH_LOCKED');
    expect(ended.error!.details).toMatchObject({ table: 'noaa.daily', pids: String(pid) });
    expect(eventsOf(ended, 'notice').map(({ message }) => message)).toEqual([
      `publishing waits for noaa.daily, which is locked by process ${pid}`,
    ]);
    await reader.query('rollback');
  });
  expect(await tableNumbers(scene().url)).toEqual(before);
  const next = await scene().run();
  expectEnd(next, 0);
  expect(eventsOf(next, 'resumed')).toHaveLength(1);
  await scene().expectWhole();
  expect(await ask(scene().url, 'select state from etl.run order by id')).toEqual([
    { state: 'published' },
    { state: 'published' },
  ]);
});
