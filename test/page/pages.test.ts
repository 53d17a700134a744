// Every page in Chromium, after real runs: in light and dark, narrow, without scripts, by the keyboard alone; axe finds nothing.

import type { BrowserContextOptions, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser, type Visit } from '../helpers/browser.ts';
import { useFiles } from '../helpers/files.ts';
import { fillSite, hostileFile, usePage, type PageSite } from '../helpers/page-site.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const files = useFiles();
const served = usePage(() => database.url, { traceUrl: 'https://tempo.example/trace/{traceId}' });
const open = useBrowser();
let site: PageSite;
beforeAll(async () => {
  site = await fillSite(database.url, files);
}, 120_000);

/** What each page must show of what has happened. */
const pages: readonly { name: string; path: () => string; shows: readonly string[] }[] = [
  { name: 'overview', path: () => '/', shows: ['noaa', 'words', '0 failed', 'Newest attempt'] },
  { name: 'runs', path: () => '/runs', shows: ['ETL_REJECT_LIMIT', 'published', 'failed'] },
  {
    name: 'run',
    path: () => `/runs/${site.largeRun}`,
    shows: ['20,000', 'observation', 'Chunks', 'Throughput', 'Where the time went', ' is the limit: '],
  },
  {
    name: 'run-tested',
    path: () => `/runs/${site.rejectsRun}`,
    shows: [
      'Log',
      'data test',
      'Plan',
      'words.word',
      'swap, because',
      'Data tests',
      'warned',
      'Trace',
      "delimiter: ';'",
    ],
  },
  { name: 'run-by-worker', path: () => `/runs/${site.largeRun}?by=worker`, shows: ['worker 2'] },
  { name: 'run-failed', path: () => `/runs/${site.failedRun}`, shows: ['ETL_REJECT_LIMIT', hostileFile] },
  { name: 'rejects', path: () => '/rejects', shows: ['words', 'Export'] },
  {
    name: 'rejects-of-run',
    path: () => `/rejects?run=${site.failedRun}`,
    shows: ['31.02.2026', '<script>', hostileFile],
  },
  {
    name: 'files',
    path: () => '/files?pipeline=words&schema=words&table=word',
    shows: ['words/a.csv', hostileFile],
  },
  { name: 'schedules', path: () => '/schedules', shows: ['words-nightly', 'paused', 'Europe/Berlin'] },
  { name: 'schedule', path: () => '/schedules/words-nightly', shows: ['words-nightly', 'published'] },
  { name: 'queue', path: () => '/queue', shows: ['default', 'noaa'] },
  {
    name: 'error',
    path: () => '/errors/ETL_REJECT_LIMIT',
    shows: ['auto-retry: never', 'raise rejectLimit'],
  },
  { name: 'actions', path: () => '/actions', shows: ['No actions yet.'] },
  { name: 'no-such-run', path: () => '/runs/4711', shows: ['ETL_RUN_UNKNOWN'] },
];

const looks: readonly { look: string; options: BrowserContextOptions }[] = [
  { look: 'light', options: { colorScheme: 'light' } },
  { look: 'dark', options: { colorScheme: 'dark' } },
  { look: 'narrow', options: { viewport: { width: 360, height: 740 }, colorScheme: 'light' } },
];

/** The answer to a page that is not there is one that is meant. */
const isMeant = (problem: string): boolean => /\/runs\/4711|status of 404/.test(problem);

describe.each(looks)('$look', ({ look, options }) => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await open(served().address, options);
  });
  afterAll(() => visit?.close());

  it.each(pages)('$name shows what happened, and axe finds nothing', async ({ name, path, shows }) => {
    await visit.go(path());
    const text = await visit.page.locator('body').innerText();
    for (const part of shows) expect(text).toContain(part);
    expect(await visit.axe()).toEqual([]);
    expect(await visit.overflow()).toBe(0);
    expect(visit.problems().filter((problem) => !isMeant(problem))).toEqual([]);
    await visit.shoot(`${name}-${look}`);
  });
});

describe('without scripts', () => {
  it('every page has everything', async () => {
    const visit = await open(served().address, { javaScriptEnabled: false });
    for (const { path, shows } of pages) {
      await visit.go(path());
      const text = await visit.page.locator('body').innerText();
      for (const part of shows) expect(text).toContain(part);
    }
    expect(visit.problems().filter((problem) => !isMeant(problem))).toEqual([]);
    await visit.close();
  });
});

describe('by the keyboard alone', () => {
  it('a visitor gets from the overview to the numbers of a chunk map, and sees where the focus is', async () => {
    const visit = await open(served().address);
    const { page, tabTo } = visit;
    await tabTo('nav a[href="/runs"]');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs');
    await tabTo(`a[href="/runs/${site.largeRun}"]`);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${site.largeRun}`);
    await tabTo('#map-numbers summary');
    await page.keyboard.press('Enter');
    expect(await page.locator('#map-numbers table').isVisible()).toBe(true);
    expect(visit.problems()).toEqual([]);
    await visit.close();
  });
});

it('HEAD of the rejects starts no export, so that the next visitors get them', async () => {
  const { origin, token } = served();
  const ask = (method: string) =>
    fetch(`${origin}/rejects.csv?run=${site.rejectsRun}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
  expect((await ask('HEAD')).status).toBe(200);
  for (let visitor = 0; visitor < 2; visitor += 1) {
    const answer = await ask('GET');
    expect({ status: answer.status, text: await answer.text() }).toMatchObject({
      status: 200,
      text: expect.stringContaining('_reason,_record'),
    });
  }
});

it('everything that a browser gets for a page is at most 100 kB, compressed, and comes from here', async () => {
  const visit = await open(served().address);
  const finished: Request[] = [];
  visit.page.on('requestfinished', (request) => finished.push(request));
  await visit.go(`/runs/${site.largeRun}`);
  await visit.page.locator('.chart').first().waitFor();
  const sizes = await Promise.all(finished.map((request) => request.sizes()));
  const bytes = sizes.reduce((sum, size) => sum + size.responseBodySize + size.responseHeadersSize, 0);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(100_000);
  expect(visit.problems()).toEqual([]);
  await visit.close();
});

it('a run leads to its trace, and to nobody else what it was opened from', async () => {
  const visit = await open(served().address, { javaScriptEnabled: false });
  await visit.go(`/runs/${site.rejectsRun}`);
  const link = visit.page.locator('#facts a[rel="noreferrer"]');
  expect(await link.getAttribute('href')).toBe(`https://tempo.example/trace/${await link.innerText()}`);
  expect(await link.innerText()).toMatch(/^[0-9a-f]{32}$/);
  await visit.close();
});

it('an address with a zero byte, which no text of the server has, is refused', async () => {
  const visit = await open(served().address, { javaScriptEnabled: false });
  await visit.go('/runs');
  const answer = await visit.page.goto(new URL('/rejects?table=%00', visit.page.url()).href);
  expect(answer?.status()).toBe(400);
  await visit.close();
});
