// The Dockerfile's image is small, runs as nobody, and is made of what is there.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readDockerfile, saidBy } from '../../helpers/dockerfile.ts';
import { readProjectFile, root } from './source-files.ts';

const stages = readDockerfile('Dockerfile');
const [build, final] = stages as [(typeof stages)[number], (typeof stages)[number]];
const allowed = readProjectFile('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));

it('has a stage that builds and one that runs, on the same Node', () =>
  expect(stages.map(({ image }) => image)).toEqual([build.image, build.image]));

it('runs on a Node that the package is tested on', () => {
  const major = /^node:(\d+)-/.exec(final.image)?.[1];
  expect(readProjectFile('test/package/quickstart.test.ts')).toContain(`version: '${major}'`);
});

it('copies what is there and what its context holds', () => {
  const sources = saidBy(build, 'COPY').flatMap((text) => text.split(' ').slice(0, -1));
  expect(sources.filter((path) => !existsSync(join(root, path)) || !allowed.includes(path))).toEqual([]);
});

it('sends the builder nothing else', () => {
  const sources = saidBy(build, 'COPY').flatMap((text) => text.split(' ').slice(0, -1));
  expect(allowed.toSorted()).toEqual(sources.toSorted());
});

it('takes nothing but results into the image', () =>
  expect(saidBy(final, 'COPY').filter((text) => !text.startsWith('--from=build '))).toEqual([]));

it('runs as a numbered user that is not root', () =>
  expect(saidBy(final, 'USER')).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]));

it('holds no secret', () =>
  expect(stages.flatMap((stage) => [...saidBy(stage, 'ARG'), ...saidBy(stage, 'ENV')])).toEqual([
    'NODE_ENV=production',
  ]));
