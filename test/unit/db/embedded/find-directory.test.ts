// Finding the `.etl` of a working directory, on real directories.

import { chown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findEtlDirectory } from '../../../../src/db/embedded/find-directory.ts';

let base: string;
let deep: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sluice-place-')));
  deep = join(base, 'project/pipelines/deep');
  await mkdir(deep, { recursive: true });
});
afterEach(() => rm(base, { recursive: true, force: true }));

const setUp = async (directory: string): Promise<string> => {
  const etl = join(directory, '.etl');
  await mkdir(etl, { recursive: true });
  await writeFile(join(etl, 'server.json'), '{}');
  return etl;
};

it('without any, the working directory’s is chosen, which does not exist yet', () =>
  expect(findEtlDirectory(deep)).toBe(join(deep, '.etl')));

it('the nearest one above is the project’s; one of the working directory comes first', async () => {
  await setUp(base);
  const project = await setUp(join(base, 'project'));
  expect(findEtlDirectory(deep)).toBe(project);
  expect(findEtlDirectory(join(base, 'project'))).toBe(project);
  const own = await setUp(deep);
  expect(findEtlDirectory(deep)).toBe(own);
});

it('one without a database is skipped, and so is a link, which may lead anywhere', async () => {
  await mkdir(join(base, 'project/pipelines/.etl'));
  const elsewhere = await setUp(join(base, 'elsewhere'));
  await symlink(elsewhere, join(base, 'project/.etl'));
  expect(findEtlDirectory(deep)).toBe(join(deep, '.etl'));
  const outer = await setUp(base);
  expect(findEtlDirectory(deep)).toBe(outer);
});

it('one of another user is skipped', async () => {
  const etl = await setUp(join(base, 'project'));
  // Only root can change a directory's owner. For other users, root's directories are foreign.
  if (process.geteuid?.() === 0) await chown(etl, 65_534, 65_534);
  const expected = process.geteuid?.() === 0 ? join(deep, '.etl') : etl;
  expect(findEtlDirectory(deep)).toBe(expected);
});

it('the search ends at the home directory', async () => {
  const before = process.env['HOME'];
  await setUp(base);
  process.env['HOME'] = join(base, 'project');
  try {
    expect(homedir()).toBe(join(base, 'project'));
    expect(findEtlDirectory(deep)).toBe(join(deep, '.etl'));
    const home = await setUp(join(base, 'project'));
    expect(findEtlDirectory(deep)).toBe(home);
  } finally {
    process.env['HOME'] = before;
  }
});
