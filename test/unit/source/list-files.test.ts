// Paths and globs of a source as a list of files, on a real directory.

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EtlError } from '../../../src/errors.ts';
import { listFiles } from '../../../src/source/list-files.ts';

const files = [
  'b.csv',
  'a.csv',
  'B.csv',
  'a10.csv',
  'a2.csv',
  'c.txt',
  '.hidden.csv',
  'a[1].csv',
  'a1.csv',
  'what?.csv',
  '*.csv',
  'ä.csv',
  'sub/d.csv',
  'sub/deep/e.csv',
  '-x.csv',
  'two words.csv',
];

let directory: string;
beforeAll(async () => {
  // A working directory whose own name looks like a glob.
  directory = join(await mkdtemp(join(tmpdir(), 'sluice-files-')), 'data [1] {a,b}');
  await mkdir(join(directory, 'sub/deep'), { recursive: true });
  await mkdir(join(directory, 'folder.csv'));
  for (const file of files) await writeFile(join(directory, file), file);
  await symlink('b.csv', join(directory, 'link.csv'));
  await symlink('nowhere', join(directory, 'dangling.csv'));
  await symlink('loop.csv', join(directory, 'loop.csv'));
});
afterAll(() => rm(join(directory, '..'), { recursive: true, force: true }));

const namesOf = async (...patterns: string[]): Promise<string[]> =>
  (await listFiles('t', patterns, directory)).map(({ name }) => name);

const cases: readonly { name: string; patterns: readonly string[]; found: readonly string[] }[] = [
  { name: 'one file', patterns: ['a.csv'], found: ['a.csv'] },
  { name: 'a path with dots', patterns: ['./sub/../a.csv'], found: ['a.csv'] },
  {
    name: 'a glob, by name, the same on every machine',
    patterns: ['a*.csv'],
    found: ['a.csv', 'a1.csv', 'a10.csv', 'a2.csv', 'a[1].csv'],
  },
  { name: 'one character', patterns: ['?.csv'], found: ['*.csv', 'B.csv', 'a.csv', 'b.csv', 'ä.csv'] },
  { name: 'a set of characters', patterns: ['[ab].csv'], found: ['a.csv', 'b.csv'] },
  { name: 'a file whose name holds a set is no glob', patterns: ['a[1].csv'], found: ['a[1].csv'] },
  {
    name: 'nor one whose name holds a question mark or a star',
    patterns: ['what?.csv', '*.csv'],
    found: ['what?.csv', '*.csv'],
  },
  { name: 'alternatives', patterns: ['{b,a}.csv'], found: ['a.csv', 'b.csv'] },
  {
    name: 'more alternatives than a name may be long',
    patterns: [`{${'none,'.repeat(100)}a}.csv`],
    found: ['a.csv'],
  },
  { name: 'folders at any depth', patterns: ['**/[de].csv'], found: ['sub/d.csv', 'sub/deep/e.csv'] },
  { name: 'a glob below a folder', patterns: ['sub/*'], found: ['sub/d.csv'] },
  { name: 'a glob with dots before it', patterns: ['./sub/../[ab].csv'], found: ['a.csv', 'b.csv'] },
  {
    name: 'patterns in declared order, each file once',
    patterns: ['b.csv', '[ab].csv', './b.csv', 'c.txt'],
    found: ['b.csv', 'a.csv', 'c.txt'],
  },
  { name: 'hidden files only by name', patterns: ['.hidden.csv'], found: ['.hidden.csv'] },
  {
    name: 'odd names',
    patterns: ['-x.csv', 'two words.csv', 'ä.csv'],
    found: ['-x.csv', 'two words.csv', 'ä.csv'],
  },
  { name: 'a link', patterns: ['link.csv'], found: ['link.csv'] },
];

describe('listFiles', () => {
  it.each(cases)('$name', async ({ patterns, found }) => {
    expect(await namesOf(...patterns)).toEqual(found);
  });

  it('finds absolute paths and globs, and names them below the working directory by their place there', async () => {
    const inside = join(directory, 'a.csv');
    expect(await listFiles('t', [inside], directory)).toEqual([{ path: inside, name: 'a.csv' }]);
    const below = join(directory, 'sub');
    expect(await listFiles('t', [inside], below)).toEqual([{ path: inside, name: inside }]);
    expect((await listFiles('t', ['../[ab].csv'], below)).map(({ path }) => path)).toEqual([
      inside,
      join(directory, 'b.csv'),
    ]);
  });

  const missing = [
    'none.csv',
    'none*.csv',
    'folder.csv',
    'folder.c*',
    'a.csv/b.csv',
    'none/*.csv',
    'dangling.csv',
    '',
  ];
  it.each(missing)('%o: ETL_SOURCE_NOT_FOUND, also beside what is there', async (pattern) => {
    const error: unknown = await namesOf('a.csv', pattern).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EtlError);
    expect(error).toMatchObject({
      code: 'ETL_SOURCE_NOT_FOUND',
      details: { table: 't', glob: pattern, directory },
    });
  });

  it.each(['loop.csv', 'a\0.csv'])('%o: ETL_SOURCE_UNREADABLE', async (pattern) => {
    await expect(namesOf(pattern)).rejects.toMatchObject({
      code: 'ETL_SOURCE_UNREADABLE',
      details: { table: 't' },
    });
  });
});
