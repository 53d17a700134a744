// The server's disk is full in the middle of a load: one clear error, nothing published, and the next run goes on.

import { stat } from 'node:fs/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { mountSmallDisk, type SmallDisk } from '../helpers/as-root.ts';
import { eventsOf, killRest, runArgs, startEtl, type Ended } from '../helpers/fault-child.ts';
import { chunksOf, expectWhole, stateOf } from '../helpers/fault-outcome.ts';
import { ask, startOwnServer, type OwnServer } from '../helpers/own-server.ts';

let server: OwnServer | undefined;
let disk: SmallDisk | undefined;
let url = '';

beforeAll(async () => {
  server = await startOwnServer();
  // An empty database takes about 8 MB, bookkeeping and queue 1, the staged files 27.
  disk = await mountSmallDisk('24m', await stat(server.server.directory));
  await ask(server.server.url, `create tablespace small location '${disk.directory}'`);
  await ask(server.server.url, 'create database full_disk tablespace small template template0');
  url = server.server.url.replace(/\/etl$/, '/full_disk');
});

afterAll(async () => {
  killRest();
  try {
    await server?.remove();
  } finally {
    await disk?.unmount();
  }
});

const run = (): Promise<Ended> => {
  const { directory, chunkBytes } = inject('largeData');
  return startEtl({ directory, url, args: runArgs(chunkBytes) }).ended;
};

/** The run ended for want of room, said so, and published nothing. */
const expectDiskFull = async ({ end, error, said }: Ended): Promise<void> => {
  expect({ end, code: error?.code }).toEqual({ end: 1, code: 'ETL_DISK_FULL' });
  expect(said).toMatch(
    /^error ETL_DISK_FULL: the disk of the server etl@127\.0\.0\.1:\d+\/full_disk is full: /m,
  );
  expect(said).toMatch(
    /^ {2}Free some space, then run again: loaded chunks are kept, and only the rest is loaded\.$/m,
  );
  expect(await ask(url, `select to_regclass('noaa.observation') as published`)).toEqual([
    { published: null },
  ]);
  expect(await stateOf(url)).toBe('failed');
};

/** Runs again: what was loaded before is said to be there, and is there afterwards as it was. */
const runAgain = async (): Promise<Ended> => {
  const before = await chunksOf(url);
  const ended = await run();
  const records = before.reduce((sum, chunk) => sum + chunk.records, 0);
  expect(eventsOf(ended, 'resumed')).toMatchObject([{ chunks: before.length, records }]);
  const proofs = (await chunksOf(url)).map(({ proof }) => proof);
  expect(proofs).toEqual(expect.arrayContaining(before.map(({ proof }) => proof)));
  return ended;
};

const loadedRecords = async (): Promise<number> =>
  (await chunksOf(url)).reduce((sum, chunk) => sum + chunk.records, 0);

it('a disk that does not hold the load: ETL_DISK_FULL until there is room, and chunks that are loaded stay', async () => {
  const { outcome } = inject('largeData');
  await expectDiskFull(await run());
  expect(await loadedRecords()).toBeGreaterThan(0);
  expect(await loadedRecords()).toBeLessThan(outcome.counts.records);

  // Still full: it continues, and stops again.
  await expectDiskFull(await runAgain());
  expect(await loadedRecords()).toBeLessThan(outcome.counts.records);

  // Room for the load, but not for the new tables.
  await disk!.grow('48m');
  await expectDiskFull(await runAgain());
  expect(await loadedRecords()).toBe(outcome.counts.records);

  // Room enough: it builds from what is loaded.
  await disk!.grow('512m');
  expect(await runAgain()).toMatchObject({ end: 0, error: undefined });
  await expectWhole(url, outcome);
});
