// The embedded server is killed under a run: nobody else would start it again, so the run does.

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { findEmbedded, stopEmbedded, type EmbeddedServer } from '../../src/db/embedded/server.ts';
import { eventsOf, expectEnd, killRest, runArgs, startEtl, type Etl } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { expectWhole } from '../helpers/fault-outcome.ts';
import { makeServerDirectory } from '../helpers/own-server.ts';

const data = inject('largeData');
let directory = '';
const etlDirectory = (): string => join(directory, '.etl');

beforeAll(async () => {
  directory = await makeServerDirectory();
  cpSync(data.directory, directory, { recursive: true });
});
afterAll(async () => {
  killRest();
  await stopEmbedded(etlDirectory());
  rmSync(directory, { recursive: true, force: true });
});

const run = (...args: readonly string[]) =>
  startEtl({ directory, url: undefined, args: [...runArgs(data.chunkBytes), ...args] });

const loadedChunks = `select from etl.chunk c join etl.source_file f on f.id = c.file_id
    join etl.run r on r.id = f.run_id where r.state = 'loading'`;

/** The server, when it holds some chunks of the run. */
const untilLoading = async (child: Etl): Promise<EmbeddedServer> => {
  let isOver = false;
  void child.ended.then(() => (isOver = true));
  while (!isOver) {
    const server = await findEmbedded(etlDirectory());
    const chunks = server && (await ask(server.url, loadedChunks).catch(() => []));
    if (chunks !== undefined && chunks.length > 2) return server!;
    await sleep(20);
  }
  throw new Error(`the run ended before it was struck: ${(await child.ended).said}`);
};

it('killed in mid-load, it is started again, and the run loads what was lost', async () => {
  const child = run();
  const { pid } = await untilLoading(child);
  process.kill(pid, 'SIGKILL');
  const ended = await child.ended;
  expectEnd(ended, 0);
  expect(eventsOf(ended, 'waiting')).toHaveLength(1);
  await expectWhole((await findEmbedded(etlDirectory()))!.url, data.outcome);
});

it('stopped in mid-refresh, it stays stopped until it is asked for: a plain run goes on with the refresh', async () => {
  const child = run('--full-refresh', '--wait', '3s');
  await untilLoading(child);
  await stopEmbedded(etlDirectory());
  expectEnd(await child.ended, 1, 'ETL_SERVER_LOST');
  expect(await findEmbedded(etlDirectory())).toBeUndefined();
  const next = await run().ended;
  expectEnd(next, 0);
  expect(eventsOf(next, 'resumed')).toHaveLength(1);
  await expectWhole((await findEmbedded(etlDirectory()))!.url, data.outcome);
});
