// What the next run does with an unfinished one, when something has changed in between.

import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventsOf, expectEnd, killRest, type Ended } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { editPipeline } from '../helpers/fault-files.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { loadPoints } from '../helpers/fault-points.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { killChild, openScene, type Scene } from '../helpers/fault-scene.ts';

let directory: string;
let scene: Scene;
const dataFile = (name: string): string => join(directory, 'data/noaa', name);

// A file with no records: adding or removing it changes the list of files, and nothing else.
const emptyFile = '000hourly.txt';

beforeEach(async () => {
  const data = inject('smallData');
  directory = mkdtempSync(join(tmpdir(), 'sluice-resume-'));
  cpSync(data.directory, directory, { recursive: true, preserveTimestamps: true });
  scene = await openScene(data, directory);
});
afterEach(async () => {
  killRest();
  await scene.close();
  rmSync(directory, { recursive: true, force: true });
});

const writeEmptyFile = (): void => {
  const [header] = readFileSync(dataFile('001hourly.txt'), 'latin1').split('\n');
  writeFileSync(dataFile(emptyFile), `${header}\n`);
};

/** Loads about half, and is killed. */
const leaveUnfinished = async (): Promise<void> => {
  const point = loadPoints.find(({ name }) => name === 'after a chunk in the middle is committed')!;
  await scene.runStruck(point, killChild);
  await expectNoSessions(scene.url);
};

const expectAnew = async (ended: Ended, why: RegExp): Promise<void> => {
  expectEnd(ended, 0);
  expect(eventsOf(ended, 'notice').map(({ message }) => message)).toEqual([expect.stringMatching(why)]);
  expect(await ask(scene.url, 'select id::int, state from etl.run order by id')).toEqual([
    { id: 1, state: 'cancelled' },
    { id: 2, state: 'published' },
  ]);
  await scene.expectWhole();
};

const changes: [string, { before?: () => void; change: () => unknown; args?: string[]; why: RegExp }][] = [
  ['--fresh', { change: () => undefined, args: ['--fresh'], why: /everything is to be loaded again/ }],
  [
    'a changed definition',
    {
      change: () => editPipeline(directory, `using: 'brin'`, `using: 'btree'`),
      why: /definition changed since then \(table observation\)/,
    },
  ],
  ['a new file', { change: writeEmptyFile, why: /new file, .*000hourly\.txt/ }],
  [
    'a file that is gone',
    {
      before: writeEmptyFile,
      change: () => rmSync(dataFile(emptyFile)),
      why: /000hourly\.txt is no longer there/,
    },
  ],
  [
    'staging tables that somebody dropped',
    {
      change: () => ask(scene.url, 'drop table etl_staging.noaa__observation'),
      why: /staging tables are gone/,
    },
  ],
];

describe('after a kill, with', () => {
  it.each(changes)('%s: a new run, and says why', async (_, { before, change, args = [], why }) => {
    before?.();
    await leaveUnfinished();
    await change();
    const ended = await scene.run(...args);
    expect(eventsOf(ended, 'resumed')).toEqual([]);
    await expectAnew(ended, why);
  });

  it('a changed file: refused; with the file put back, continued', async () => {
    await leaveUnfinished();
    const { atime, mtime } = statSync(dataFile('003hourly.txt'));
    utimesSync(dataFile('003hourly.txt'), atime, new Date(mtime.getTime() + 1_000));
    const refused = await scene.run();
    expectEnd(refused, 1, 'ETL_RESUME_CHANGED');
    expect(refused.error!.details).toEqual({
      table: 'observation',
      file: expect.stringMatching(/003hourly\.txt$/),
      run: 1,
    });
    utimesSync(dataFile('003hourly.txt'), atime, mtime);
    await resumeAfterKill(scene);
    await scene.expectWhole();
  });

  it('a changed file and --fresh: a new run with the file as it is now', async () => {
    await leaveUnfinished();
    const { atime, mtime } = statSync(dataFile('003hourly.txt'));
    utimesSync(dataFile('003hourly.txt'), atime, new Date(mtime.getTime() + 1_000));
    const ended = await scene.run('--fresh');
    expect(eventsOf(ended, 'resumed')).toEqual([]);
    await expectAnew(ended, /everything is to be loaded again/);
  });
});
