// The guides' pipelines, and those that `etl init` writes, load; the first guide's runs as the guide says.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPipelineFile, runPipeline } from '../../src/index.ts';
import { useDatabase } from '../helpers/server.ts';
import { filesBelow, readProjectFile } from '../unit/project/source-files.ts';

/** TypeScript blocks of a page that are whole pipeline files. */
const pipelineFiles = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/```ts\n([\s\S]*?)\n```/g)]
    .map(([, code]) => code!)
    .filter((code) => code.includes('export default definePipeline'));

const snippets = [
  ...[{ path: 'README.md', text: readProjectFile('README.md') }, ...filesBelow('docs', '.md')].flatMap(
    ({ path, text }) =>
      pipelineFiles(text).map((code, index) => ({ name: `${path}, pipeline ${index + 1}`, code })),
  ),
  ...filesBelow('test/fixtures/expected/init', '.txt').map(({ path, text }) => ({ name: path, code: text })),
];

const database = useDatabase();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-guides-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it.each(snippets)('$name is valid', async ({ name, code }) => {
  const file = join(directory, `${name.replace(/\W+/g, '-')}.ts`);
  await writeFile(file, code);
  await expect(loadPipelineFile(file)).resolves.toMatchObject({ file });
});

it('docs/guide/first-pipeline.md: its file and its pipeline make its table', async () => {
  const guide = readProjectFile('docs/guide/first-pipeline.md');
  const content = /^printf '(.*)' > exports\/sales\.csv$/m.exec(guide)![1]!.replaceAll('\\n', '\n');
  const [code = ''] = pipelineFiles(guide);
  await mkdir(join(directory, 'exports'));
  await writeFile(join(directory, 'exports/sales.csv'), content);
  await writeFile(join(directory, 'shop.ts'), code);
  const { pipeline } = await loadPipelineFile(join(directory, 'shop.ts'));
  await runPipeline(pipeline, { databaseUrl: database.url, directory, workingDirectory: directory });
  const { rows } = await database.query(
    `select id, sold_at at time zone 'UTC' as sold_at, price, note from shop.sale order by id`,
  );
  expect(rows.map(({ id, price, note }) => [id, price, note])).toEqual([
    ['1', '9.90', null],
    ['2', '120.00', 'gift'],
  ]);
});
