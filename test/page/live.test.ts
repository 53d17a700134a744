// A run whose server is killed and that goes on, watched live in one window: what was lost, what waits, what is loaded again.

import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPipelineFile, runPipeline } from '../../src/index.ts';
import { useBrowser } from '../helpers/browser.ts';
import { writeFaultFiles } from '../helpers/fault-files.ts';
import { loadPoints } from '../helpers/fault-points.ts';
import { openProxy, type FaultProxy, type Point, type Verdict } from '../helpers/fault-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { startOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { serveSite, type ServedPage } from '../helpers/page-site.ts';

const files = useFiles();
const open = useBrowser();
let own: OwnServer;
let proxy: FaultProxy;
let served: ServedPage;
beforeAll(async () => {
  own = await startOwnServer();
  proxy = await openProxy(Number(new URL(own.server.url).port));
  // The page asks the server itself: only the run is held up.
  served = await serveSite(own.server.url);
  writeFaultFiles(files.directory, 6_000, 2);
});
afterAll(async () => {
  await served?.close();
  await proxy?.close();
  await own?.remove();
});

const point = (name: string): Point => loadPoints.find((each) => each.name === name)!;

/**
 * Holds the run from a point on, by a lock that its next chunk waits for: the server answers all the while, so that nobody takes the run's
 * connection for a lost one, however long the browser takes.
 */
const holdFrom = (where: Point) => {
  const holder = new pg.Client({ connectionString: own.server.url });
  // It may be the server that ends it.
  holder.on('error', () => undefined);
  const reached = new Promise<void>((resolve, reject) => {
    proxy.arm(where, async (): Promise<Verdict> => {
      await holder
        .connect()
        .then(() => holder.query('begin; lock table etl.chunk in share row exclusive mode'))
        .then(() => resolve(), reject);
      return 'forward';
    });
  });
  return { reached, letGo: () => holder.end() };
};

/** Live updates come within seconds, a server's restart within a few more. */
const soon = <T>(look: () => Promise<T>) => expect.poll(look, { timeout: 60_000 });

it('the chunk map shows what was loaded, then lost, then loaded again, without being opened again', async () => {
  const { pipeline, directory } = await loadPipelineFile(join(files.directory, 'pipelines/noaa.ts'));
  const through = new URL(own.server.url);
  through.port = String(proxy.port);
  const visit = await open(served.address);
  const crash = holdFrom(point('after a chunk in the middle is committed'));
  const run = runPipeline(pipeline, {
    databaseUrl: through.href,
    redis: false,
    directory,
    workingDirectory: files.directory,
    workers: 1,
    chunkBytes: 64 * 1024,
  });
  await crash.reached;

  await visit.go('/runs/1');
  const cells = (state: string) => visit.page.locator(`#map .bar rect.${state}`);
  const facts = visit.page.locator('#facts');
  await soon(() => cells('loaded').count()).toBe(10);
  expect(await facts.innerText()).toContain('loading');
  expect(await cells('lost').count()).toBe(0);
  // A reload would forget it.
  await visit.page.evaluate(() => Object.assign(globalThis, { isTheSamePage: true }));
  await visit.shoot('live-1-loading');

  const again = holdFrom(point('before the first chunk is claimed'));
  await own.end('SIGKILL');
  await crash.letGo().catch(() => undefined);
  await soon(() => visit.page.locator('#link').innerText()).toContain('no answer');
  await own.start();
  await again.reached;
  await soon(() => cells('lost').count()).toBe(10);
  expect(await cells('loaded').count()).toBe(0);
  expect(await visit.page.locator('#map').innerText()).toContain('lost');
  await visit.shoot('live-2-lost');

  await again.letGo();
  expect((await run).outcome).toBe('published');
  await soon(() => visit.page.locator('#log').innerText()).toContain('the server crashed and recovered');
  await soon(() => facts.innerText()).toContain('published');
  await soon(() => cells('reloaded').count()).toBe(10);
  expect(await cells('lost').count()).toBe(0);
  expect(await cells('loaded').count()).toBeGreaterThan(5);
  expect(await visit.page.evaluate(() => 'isTheSamePage' in globalThis)).toBe(true);
  expect(await visit.axe()).toEqual([]);
  expect(visit.problems()).toEqual([]);
  await visit.shoot('live-3-reloaded');
  await visit.close();
}, 240_000);
