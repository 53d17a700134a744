// The site as `npm run site` builds it, on a port of its own: its links, its search, in light and dark, wide and narrow.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../helpers/browser.ts';
import { useFiles } from '../helpers/files.ts';
import { filesBelow, readProjectFile, root } from '../unit/project/source-files.ts';

const { version } = JSON.parse(readProjectFile('package.json')) as { readonly version: string };
const kinds: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

const files = useFiles();
const open = useBrowser();
const home = `/${version}/`;
let server: Server;
let origin: string;
/** Of every page that was built, below its version. */
let paths: readonly string[];

/** What a static host makes of an address: a file, the index of a folder, or a page without its ending. */
const fileOf = (url: string): string | undefined => {
  const path = join(files.directory, decodeURIComponent(new URL(url, 'http://localhost').pathname));
  return [path, `${path}.html`, join(path, 'index.html')].find((file) =>
    statSync(file, { throwIfNoEntry: false })?.isFile(),
  );
};

beforeAll(async () => {
  const env = { ...process.env, NODE_ENV: 'production', SITE_OUTPUT: files.directory };
  await promisify(execFile)('npm', ['run', 'site'], { cwd: root, env });
  server = createServer(({ url = '/' }, response) => {
    const file = fileOf(url);
    if (file === undefined) response.writeHead(404).end();
    else
      response
        .setHeader('content-type', kinds[extname(file)] ?? 'application/octet-stream')
        .setHeader('content-encoding', 'gzip')
        .end(gzipSync(readFileSync(file)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sitemap = readFileSync(join(files.directory, version, 'sitemap.xml'), 'utf8');
  paths = Array.from(sitemap.matchAll(/<loc>([^<]*)<\/loc>/g), ([, address]) => new URL(address!).pathname);
});
afterAll(() => server?.close());

it('has a page for each of docs/, but for the reports that programs write', () => {
  const written = filesBelow('docs', '.md').length - 2;
  expect(paths).toHaveLength(written);
  expect(paths).toEqual(expect.arrayContaining([home, `${home}decisions/`]));
});

it('the sidebar has every page', () => {
  const page = readFileSync(fileOf(`${home}guide/rejects`)!, 'utf8');
  const links = new Set(Array.from(page.matchAll(/\shref="([^"]+)"/g), ([, link]) => link!));
  expect(paths.filter((path) => !links.has(path))).toEqual([]);
});

it('every link of every page leads to a page, an anchor that is there, a file, or the repository', () => {
  const htmlOf = (path: string): string => readFileSync(fileOf(path)!, 'utf8');
  const idsOf = (path: string): ReadonlySet<string> =>
    new Set(Array.from(htmlOf(path).matchAll(/\sid="([^"]*)"/g), ([, id]) => id!));
  const anchors = new Map(paths.map((path) => [path, idsOf(path)]));
  const broken = paths.flatMap((path) =>
    Array.from(htmlOf(path).matchAll(/\s(?:href|src)="([^"]+)"/g), ([, link]) => link!)
      .map((link) => new URL(link.replaceAll('&amp;', '&'), new URL(path, origin)))
      .filter((link) => link.origin === origin)
      .filter(({ pathname, hash }) => {
        if (fileOf(pathname) === undefined) return true;
        return hash !== '' && !anchors.get(pathname)?.has(decodeURIComponent(hash.slice(1)));
      })
      .map(({ pathname, hash }) => `${path}: ${pathname}${hash}`),
  );
  expect(broken).toEqual([]);
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.each(['', 'guide/nightly-loads', 'reference/dialect', 'comparison'])(
    'axe finds nothing on /%s, and nothing comes from elsewhere',
    async (path) => {
      const visit = await open(`${origin}${home}${path}`, { colorScheme, reducedMotion: 'reduce' });
      await visit.shoot(`site-${path.replace(/.*\//, '') || 'home'}-${colorScheme}`);
      expect(await visit.axe()).toEqual([]);
      expect(visit.problems()).toEqual([]);
      await visit.close();
    },
  );
});

it('no page is wider than a window of 360 pixels', async () => {
  const visit = await open(`${origin}${home}`, {
    viewport: { width: 360, height: 740 },
    reducedMotion: 'reduce',
  });
  expect(await visit.axe()).toEqual([]);
  const wide: string[] = [];
  for (const path of paths) {
    await visit.go(path);
    if ((await visit.overflow()) > 0) wide.push(path);
    if (path === home || path.endsWith('/nightly-loads'))
      await visit.shoot(`site-${path === home ? 'home' : 'page'}-narrow`);
  }
  expect(wide).toEqual([]);
  expect(visit.problems()).toEqual([]);
  await visit.close();
});

it('the search finds a page', async () => {
  const { page, close, problems } = await open(`${origin}${home}`);
  await page
    .getByRole('button', { name: /search/i })
    .first()
    .click();
  await page.getByRole('searchbox').fill('unquoted delimiter');
  await page.locator('#localsearch-list a').first().waitFor();
  await page.getByRole('searchbox').fill('replay rejects');
  await page.locator('#localsearch-list a[href*="guide/rejects"]').first().click();
  await page.waitForURL('**/guide/rejects*');
  expect(problems()).toEqual([]);
  await close();
});

it.each(['', 'guide/nightly-loads'])('/%s needs at most 10 requests and 110 kB, compressed', async (path) => {
  const visit = await open(`${origin}${home}${path}`);
  await visit.page.waitForLoadState('networkidle');
  const sizes = await visit.page.evaluate<readonly number[]>(
    `performance.getEntries().filter((entry) => 'encodedBodySize' in entry).map((entry) => entry.encodedBodySize)`,
  );
  expect(sizes.length).toBeLessThanOrEqual(10);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(110_000);
  await visit.close();
});
