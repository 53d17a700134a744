// The first guide as it is written, beside a fresh copy of the checkout: its commands, its files, its TypeScript settings; and
// what a project with another Zod gets.

import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDirectory, mustRun, run } from '../helpers/package-project.ts';
import { readProjectFile, root } from '../unit/project/source-files.ts';

const guide = readProjectFile('docs/guide/first-pipeline.md');
/** The texts of the guide's code blocks of a kind, in order. */
const blocks = (info: string): readonly string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${info}\n([^]*?)\n\`\`\``, 'g'))].map(([, text]) => text!);
const [setUp = '', load = ''] = blocks('sh');
const made = new Set(['node_modules', 'dist', '.git', '.etl']);

/** A psql for machines without one: prints what a query gives. */
const psql = `#!/usr/bin/env node
import pg from '${join(root, 'node_modules/pg/lib/index.js')}';
const [url, , sql] = process.argv.slice(2);
const client = new pg.Client(url);
await client.connect();
console.table((await client.query(sql)).rows);
await client.end();
`;

let parent: string;
let project: string;
const inProject = (program: string, ...args: readonly string[]) => run(program, args, { cwd: project });
const bash = async (text: string, cwd: string) => {
  const PATH = `${process.env['PATH']}:${join(parent, 'bin')}`;
  return mustRun('bash', ['-euc', text], { cwd, env: { PATH } });
};

beforeAll(async () => {
  parent = await makeDirectory();
  project = join(parent, 'shop');
  await cp(root, join(parent, 'sluice'), {
    recursive: true,
    filter: (path) => !made.has(basename(path)),
  });
  await cp(join(root, 'package.json'), join(parent, 'bin/package.json'));
  await writeFile(join(parent, 'bin/psql'), psql, { mode: 0o755 });
  await bash(setUp, parent);
  await writeFile(join(project, 'shop.ts'), blocks('ts')[0]!);
});
afterAll(async () => {
  await mustRun('npx', ['etl', 'db', 'stop'], { cwd: project });
  await rm(parent, { recursive: true, force: true });
});

it('its commands load its file, and psql shows the rows', async () => {
  const { out } = await bash(load, project);
  expect(out).toMatch(/^shop\.sale .* 2$/m);
  expect(out).toMatch(/gift/);
});

it('again there is nothing to do, and a changed file is loaded', async () => {
  expect((await inProject('npx', 'etl', 'run', 'shop.ts')).out).toMatch(/^Nothing to do/);
  const file = join(project, 'exports/sales.csv');
  await writeFile(file, `${await readFile(file, 'utf8')}3,2026-03-02 09:00:00Z,1.00,\n`);
  expect((await inProject('npx', 'etl', 'run', 'shop.ts')).out).toMatch(/^shop\.sale .* 3$/m);
});

const withZod = `import { column, csv, definePipeline, type Row } from 'sluice';
import { z } from 'zod';
import shop from './shop.ts';

export const sale: Row<typeof shop, 'sale'> = { id: 1n, sold_at: '', price: '1.00', note: null };
export default definePipeline({
  name: 'other',
  schema: 'other',
  params: z.object({ file: z.string() }),
  tables: ({ file }) => ({
    sale: { source: csv(file), columns: { id: column.integer('Id').zod(z.number().min(1)) }, primaryKey: ['id'] },
  }),
});
`;
const runOther = () =>
  inProject('npx', 'etl', 'run', 'other.ts', '--full-refresh', '--param', 'file=exports/sales.csv');

it.each([
  { version: '4', name: 'the newest Zod 4' },
  { version: '4.1', name: 'an older one than sluice has' },
])('its TypeScript settings compile a project, and $name works', async ({ version }) => {
  await mustRun('npm', ['install', `zod@${version}`], { cwd: project });
  await writeFile(join(project, 'tsconfig.json'), blocks('json')[0]!);
  await writeFile(join(project, 'other.ts'), withZod);
  expect(await inProject(join(root, 'node_modules/.bin/tsc'))).toEqual({ exit: 0, out: '', err: '' });
  expect(await runOther()).toMatchObject({ exit: 0, out: expect.stringMatching(/^other\.sale .* 3$/m) });
});

it('a wrong name is an error of the compiler at its place', async () => {
  await writeFile(
    join(project, 'wrong.ts'),
    blocks('ts')[0]!.replace("primaryKey: ['id']", "primaryKey: ['idd']"),
  );
  const { out } = await inProject(join(root, 'node_modules/.bin/tsc'));
  await rm(join(project, 'wrong.ts'));
  expect(out).toMatch(/^wrong\.ts\(15,20\): error TS2322: Type '"idd"' is not assignable to type/);
});

it('a schema of Zod 3 is refused by name', async () => {
  await mustRun('npm', ['install', 'zod@3'], { cwd: project });
  const { err } = await runOther();
  expect(err).toMatch(/ETL_DEFINITION[^]*params must be a z\.object\(\{ … \}\) of Zod 4, not an object/);
});
