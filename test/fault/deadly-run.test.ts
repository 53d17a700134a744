// An enqueued run that ends every process which works on it.

import { expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { ended, openFleet } from '../helpers/fleet.ts';

const { directory, write } = useFiles();

it('fails after the third process, and says which one it was; the next worker lives', async ({
  onTestFinished,
}) => {
  write('a.csv', 'id\n1\n');
  write(
    'pipelines/noaa.ts',
    `import { column, csv, definePipeline } from 'sluice';
     export default definePipeline({
       name: 'noaa',
       schema: 'noaa',
       tables: { t: { source: csv('a.csv'), columns: { id: column.integer('id') } } },
       hooks: { before: () => void process.kill(process.pid, 'SIGKILL') },
     });`,
  );
  const fleet = await openFleet(directory);
  onTestFinished(fleet.close);
  await fleet.enqueue();
  let last = 0;
  for (let deaths = 1; deaths <= 3; deaths += 1) {
    const worker = fleet.start();
    await ended(worker);
    expect(worker.signalCode).toBe('SIGKILL');
    last = worker.pid!;
  }
  const survivor = fleet.start();
  const { state } = await fleet.untilRun((run) => run.pid === survivor.pid && run.state === 'failed');
  expect(state).toBe('failed');
  await expect.poll(() => fleet.said(survivor)).toContain('"code":"ETL_RUN_DEADLY"');
  expect(fleet.said(survivor)).toContain(
    `3 processes in a row died while they worked on run 1; the last was process ${last} on`,
  );
  expect(survivor.exitCode).toBe(null);
});
