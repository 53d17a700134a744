// What the next run does with an unfinished one, when something has changed in between.

import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventsOf, expectEnd, killRest, type Ended } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { editPipeline, writeSemicolons } from '../helpers/fault-files.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { loadPoints } from '../helpers/fault-points.ts';
import { killChild, openScene, type Scene } from '../helpers/fault-scene.ts';
import { askUntil } from '../helpers/own-server.ts';

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

/** Loads about half, of both tables, and is killed. A worker that starts late is waited for. */
const leaveUnfinished = async (): Promise<void> => {
  const point = loadPoints.find(({ name }) => name === 'after a chunk in the middle is committed')!;
  await scene.runStruck(point, (child) => async (...struck) => {
    const tables =
      'select count(distinct table_name)::int as n from etl.chunk c join etl.source_file f on f.id = c.file_id';
    await askUntil<{ n: number }>(scene.url, tables, ({ n }) => n === 2);
    return killChild(child)(...struck);
  });
  await expectNoSessions(scene.url);
};

/** The run is continued as it is now, says so, and what is kept of it is not loaded again. */
const expectContinued = async (
  ended: Ended,
  kept: readonly object[],
  why: readonly RegExp[],
): Promise<void> => {
  expectEnd(ended, 0);
  expect(eventsOf(ended, 'notice').map(({ message }) => message)).toEqual(
    why.map((text) => expect.stringMatching(text)),
  );
  expect(await ask(scene.url, 'select id::int, state from etl.run order by id')).toEqual([
    { id: 1, state: 'published' },
  ]);
  expect(await chunksOfTables()).toEqual(expect.arrayContaining([...kept]));
  await scene.expectWhole();
};

interface Chunk {
  readonly table: string;
}
const chunksOfTables = (): Promise<readonly Chunk[]> =>
  ask(
    scene.url,
    `select f.table_name as table, f.location as path, f.ordinal, c.byte_start, c.committed_at from etl.chunk c
      join etl.source_file f on f.id = c.file_id order by 2, 4`,
  );
/** Chunks but for the place of their file in the list, which a new file moves. */
const without = (chunks: readonly object[]) =>
  chunks.map((chunk) => ({ ...chunk, ordinal: expect.anything() }));

/** A file of the run, of which something is loaded or nothing. */
const fileWith = async (isLoaded: boolean): Promise<string> => {
  const [found] = await ask(
    scene.url,
    `select location as path from etl.source_file f where table_name = 'observation' and bytes > 1000
      and ${isLoaded ? '' : 'not '}exists (select from etl.chunk where file_id = f.id) order by location limit 1`,
  );
  return (found as { path: string }).path;
};
const touch = async (isLoaded: boolean): Promise<void> => {
  const path = await fileWith(isLoaded);
  const { atime, mtime } = statSync(path);
  utimesSync(path, atime, new Date(mtime.getTime() + 1_000));
};

interface Change {
  readonly before?: () => void;
  readonly change: () => unknown;
  readonly why: readonly RegExp[];
  /** Tables that are loaded again. */
  readonly again?: readonly string[];
}
const lostBecause = (why: string): RegExp => new RegExp(`loads table observation again, because ${why}`);

const changes: [string, Change][] = [
  [
    'an index that is another',
    { change: () => editPipeline(directory, `using: 'brin'`, `using: 'btree'`), why: [] },
  ],
  ['a new file', { change: writeEmptyFile, why: [/there is a new file, .*000hourly\.txt/] }],
  [
    'a file that is gone, of which nothing is loaded',
    {
      before: writeEmptyFile,
      change: () => rmSync(dataFile(emptyFile)),
      why: [/000hourly\.txt is no longer there/],
    },
  ],
  [
    'a changed file of which nothing is loaded',
    { change: () => touch(false), why: [/\dhourly\.txt has changed/] },
  ],
  [
    'a changed file of which something is loaded',
    { change: () => touch(true), why: [lostBecause('.*hourly\\.txt has changed')], again: ['observation'] },
  ],
  [
    'a table whose rows are shaped otherwise',
    {
      change: () => editPipeline(directory, `'M', 'null'`, `'M', 'null', 'never'`),
      why: [lostBecause('the definition changed since then')],
      again: ['observation'],
    },
  ],
  [
    'a location whose files are written otherwise than the others',
    { before: () => writeSemicolons(directory), change: () => undefined, why: [] },
  ],
  [
    'such a location, of which another option is another',
    {
      before: () => writeSemicolons(directory),
      change: () => editPipeline(directory, "delimiter: ';' }", "delimiter: ';', comment: '#' }"),
      why: [lostBecause('the definition changed since then')],
      again: ['observation'],
    },
  ],
  [
    'a staging table that somebody dropped',
    {
      change: () => ask(scene.url, 'drop table etl_staging.noaa__observation'),
      why: [lostBecause('the staging table of observation is gone')],
      again: ['observation'],
    },
  ],
];

describe('after a kill, with', () => {
  it.each(changes)(
    '%s: goes on with what is kept, and says why',
    async (_, { before, change, why, again = [] }) => {
      before?.();
      await leaveUnfinished();
      const kept = (await chunksOfTables()).filter(({ table }) => !again.includes(table));
      expect(kept.length).toBeGreaterThan(0);
      await change();
      const ended = await scene.run();
      await expectContinued(ended, without(kept), why);
    },
  );

  it('--fresh and a changed file: a new run with the file as it is now', async () => {
    await leaveUnfinished();
    await touch(true);
    const ended = await scene.run('--fresh');
    expectEnd(ended, 0);
    expect(eventsOf(ended, 'resumed')).toEqual([]);
    const why = 'run 1 is unfinished; everything is loaded again, because you asked for it';
    expect(eventsOf(ended, 'notice').map(({ message }) => message)).toEqual([why]);
    expect(await ask(scene.url, 'select id::int, state, error from etl.run order by id')).toEqual([
      { id: 1, state: 'cancelled', error: `its process ended without a word; ${why}` },
      { id: 2, state: 'published', error: null },
    ]);
    await scene.expectWhole();
  });
});
