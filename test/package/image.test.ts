// What the Dockerfile does, done without an engine: its stages as directories, its commands in them.

import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDockerfile, saidBy, type Stage } from '../helpers/dockerfile.ts';
import { makeDirectory, mustRun, run } from '../helpers/package-project.ts';
import { root } from '../unit/project/source-files.ts';

const [build, final] = readDockerfile() as [Stage, Stage];
let built: string;
let image: string;

/** Copies as COPY does: to a name, or under its own name into a directory. */
const copyAll = async (stage: Stage, from: string, to: string): Promise<void> => {
  for (const text of saidBy(stage, 'COPY')) {
    const words = text.replace('--from=build ', '').replaceAll('/app/', '').split(' ');
    const target = words.pop()!;
    for (const source of words) {
      const path = target.endsWith('/') ? join(to, target, basename(source)) : join(to, target);
      await mkdir(dirname(path), { recursive: true });
      await cp(join(from, source), path, { recursive: true, verbatimSymlinks: true });
    }
  }
};

beforeAll(async () => {
  [built, image] = await Promise.all([makeDirectory(), makeDirectory()]);
  await copyAll(build, root, built);
  for (const command of saidBy(build, 'RUN')) await mustRun('bash', ['-euc', command], { cwd: built });
  await copyAll(final, built, image);
});
afterAll(() => Promise.all([built, image].map((path) => rm(path, { recursive: true, force: true }))));

const entry = (...args: string[]) => {
  const [program = '', ...first] = JSON.parse(saidBy(final, 'ENTRYPOINT')[0]!) as string[];
  return run(program, [...first.map((path) => path.replace('/app', image)), ...args], { cwd: image });
};

it('its entry is the program', async () =>
  expect(await entry('--version')).toMatchObject({
    exit: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/),
  }));

it('a pipeline beside it finds what it imports', async () => {
  await mkdir(join(image, 'pipelines'));
  await writeFile(join(image, 'numbers.csv'), 'n\n1\n');
  await writeFile(
    join(image, 'pipelines/numbers.ts'),
    `import { column, csv, definePipeline } from 'sluice';
import { z } from 'zod';
export default definePipeline({
  name: 'numbers',
  schema: 'numbers',
  params: z.object({ file: z.string() }),
  tables: ({ file }) => ({ number: { source: csv(file), columns: { n: column.integer('n') } } }),
});
`,
  );
  const { exit, out } = await entry('plan', 'pipelines/numbers.ts', '--param', 'file=numbers.csv');
  expect({ exit, out }).toEqual({ exit: 0, out: expect.stringContaining('numbers.csv') });
});

it('the embedded server and other tools of development are not in it', async () => {
  const { err } = await entry('run', 'pipelines/numbers.ts', '--param', 'file=numbers.csv');
  expect(err).toContain('ETL_EMBEDDED_MISSING');
});
