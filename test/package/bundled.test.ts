// A service in one file, made by a bundler: the library is loaded from node_modules, with its threads and its page.

import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startEmbedded, stopEmbedded } from '../../src/db/embedded/server.ts';
import { makeDirectory, mustRun, run } from '../helpers/package-project.ts';

const definition = `{
  name: 'stock',
  schema: 'stock',
  tables: {
    item: {
      source: csv('items.csv'),
      columns: { id: column.integer('id'), name: column.text('name') },
      primaryKey: ['id'],
    },
  },
}`;

const service = `import { column, createClient, createPage, createWorker, csv, definePipeline, enqueue, queueState, runPipeline } from 'sluice';

let threads = 0;
process.on('worker', () => threads++);
const databaseUrl = process.env.DATABASE_URL;
const stock = definePipeline(${definition});

const main = async () => {
  const { outcome, tables } = await runPipeline(stock, { databaseUrl, workers: 2, fullRefresh: true });
  console.log(outcome, tables[0].rows, threads > 0 ? 'in threads' : 'here');

  const page = createPage({ databaseUrl, control: true });
  const get = (path) =>
    page.fetch(new Request(new URL(path, 'http://localhost'), { headers: { authorization: 'Bearer ' + page.token } }));
  const overview = await (await get('/')).text();
  const assets = [...overview.matchAll(/(?:src|href)="([^"]+\\.(?:js|css)[^"]*)"/g)].map(([, path]) => path);
  const answers = await Promise.all(assets.map(get));
  console.log(overview.includes('stock'), assets.length > 1, [...new Set(answers.map(({ status }) => status))].join());
  await page.close();

  const client = createClient({ databaseUrl });
  const worker = await createWorker({ pipelines: 'pipelines', databaseUrl, workers: 1 });
  await enqueue(stock, { client });
  for (;;) {
    const { waiting, active, failed } = await queueState({ client });
    if (waiting + active === 0) {
      console.log(failed, 'failed');
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await worker.close();
  await client.close();
};
main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
`;

const forms = [
  { from: 'service.mjs', format: 'esm', to: 'out/service.mjs' },
  { from: 'service.mjs', format: 'cjs', to: 'out/service.cjs' },
  { from: 'service.cjs', format: 'esm', to: 'out/required.mjs' },
  { from: 'service.cjs', format: 'cjs', to: 'out/required.cjs' },
] as const;

let project: string;
let etlDirectory: string;
let databaseUrl: string;
beforeAll(async () => {
  project = await makeDirectory();
  await writeFile(join(project, 'package.json'), '{}');
  await mkdir(join(project, 'pipelines'));
  await writeFile(join(project, 'service.mjs'), service);
  const required = service.replace(/import (\{.*\}) from ('.*')/g, 'const $1 = require($2)');
  await writeFile(join(project, 'service.cjs'), required);
  const rows = Array.from({ length: 200_000 }, (_, id) => `${id},the name of item ${id}\n`);
  await writeFile(join(project, 'items.csv'), `id,name\n${rows.join('')}`);
  await mustRun('npm', ['install', inject('tarball'), 'esbuild'], { cwd: project });
  await writeFile(
    join(project, 'pipelines/stock.mjs'),
    `import { column, csv, definePipeline } from 'sluice';\nexport default definePipeline(${definition});\n`,
  );
  etlDirectory = join(await makeDirectory(), '.etl');
  databaseUrl = (await startEmbedded(etlDirectory)).url;
});
afterAll(async () => {
  await stopEmbedded(etlDirectory);
  await rm(join(etlDirectory, '..'), { recursive: true, force: true });
  await rm(project, { recursive: true, force: true });
});

it.each(forms)('$to, of $from, is built and runs without the optional packages', async (form) => {
  const args = ['--bundle', '--platform=node', `--format=${form.format}`, `--outfile=${form.to}`];
  const { err } = await mustRun('npx', ['esbuild', form.from, ...args, '--log-level=warning'], {
    cwd: project,
  });
  expect(err).toBe('');
  const ended = await run('node', [form.to], { cwd: project, env: { DATABASE_URL: databaseUrl } });
  expect(ended).toEqual({
    exit: 0,
    err: '',
    out: expect.stringMatching(/^published 200000 in threads\ntrue true 200\n0 failed\n$/),
  });
});

it.each(forms)('$to without the package says what to do', async ({ to }) => {
  const alone = await makeDirectory();
  try {
    await cp(join(project, to), join(alone, to));
    const { exit, out, err } = await run('node', [to], { cwd: alone });
    expect({ exit, out, err }).toEqual({
      exit: 1,
      out: '',
      err: expect.stringMatching(
        /no package sluice for the bundle .*out\/[^]*ETL_BUNDLED[^]*npm install --omit=dev/,
      ),
    });
  } finally {
    await rm(alone, { recursive: true, force: true });
  }
});
