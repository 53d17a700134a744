// Lists the files of paths and globs in a real directory.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EtlError } from '../../../../src/core/errors/errors.ts';
import { listFiles } from '../../../../src/input/sources/list-files.ts';
import { lookAtFile } from '../../../../src/input/sources/read-file.ts';
import { runTypeScript } from '../../../helpers/run-typescript.ts';
import { words } from '../../../helpers/words.ts';

const listIn = (workingDirectory: string, locations: readonly string[]) =>
  listFiles({ table: 't', locations, workingDirectory });

const files = [
  'two words.csv',
  ...words(`
    b.csv a.csv B.csv a10.csv a2.csv c.txt .hidden.csv a[1].csv a1.csv what?.csv *.csv ä.csv
    sub/d.csv sub/deep/e.csv -x.csv !x.csv`),
];

let directory: string;
beforeAll(async () => {
  // The name of the working directory looks like a glob.
  directory = join(await mkdtemp(join(tmpdir(), 'sluice-files-')), 'data [1] {a,b}');
  await mkdir(join(directory, 'sub/deep'), { recursive: true });
  await mkdir(join(directory, 'folder.csv'));
  for (const file of files) await writeFile(join(directory, file), file);
  await symlink('b.csv', join(directory, 'link.csv'));
});
afterAll(() => rm(join(directory, '..'), { recursive: true, force: true }));

const namesOf = async (...patterns: string[]): Promise<string[]> =>
  (await listIn(directory, patterns)).map(({ name }) => name);

/** Lists of patterns and of names have `, ` between them. */
const cases: [name: string, patterns: string, found: string][] = [
  ['one file', 'a.csv', 'a.csv'],
  ['a path with dots', './sub/../a.csv', 'a.csv'],
  ['a glob, by name, the same on every machine', 'a*.csv', 'a.csv, a1.csv, a10.csv, a2.csv, a[1].csv'],
  ['one character', '?.csv', '*.csv, B.csv, a.csv, b.csv, ä.csv'],
  ['a set of characters', '[ab].csv', 'a.csv, b.csv'],
  ['a file whose name holds a set is no glob', 'a[1].csv', 'a[1].csv'],
  ['nor one whose name holds a question mark or a star', 'what?.csv, *.csv', 'what?.csv, *.csv'],
  ['alternatives', '{b,a}.csv', 'a.csv, b.csv'],
  ['more alternatives than a name may be long', `{${'none,'.repeat(100)}a}.csv`, 'a.csv'],
  ['folders at any depth', '**/[de].csv', 'sub/d.csv, sub/deep/e.csv'],
  ['a glob below a folder', 'sub/*', 'sub/d.csv'],
  ['a glob with dots before it', './sub/../[ab].csv', 'a.csv, b.csv'],
  ['patterns in declared order, each file once', 'b.csv, [ab].csv, ./b.csv, c.txt', 'b.csv, a.csv, c.txt'],
  ['hidden files only by name', '.hidden.csv', '.hidden.csv'],
  ['odd names', '-x.csv, two words.csv, ä.csv', '-x.csv, two words.csv, ä.csv'],
  ['an exclamation mark in front of a name', '!x.csv, ./!*.csv', '!x.csv'],
  ['an exclusion', '[a-c].csv, !b.csv, !none-*.csv', 'a.csv'],
  ['an exclusion before what it excludes', '!sub/d*, **/[de].csv', 'sub/deep/e.csv'],
  ['a glob in alternatives over folders', '{sub/deep,none}/?.csv', 'sub/deep/e.csv'],
  ['a link', 'link.csv', 'link.csv'],
];

describe('listFiles', () => {
  it.each(cases)('%s', async (_, patterns, found) =>
    expect(await namesOf(...patterns.split(', '))).toEqual(found.split(', ')),
  );

  it('finds absolute paths and globs, and names them below the working directory by their place there', async () => {
    const inside = join(directory, 'a.csv');
    expect(await listIn(directory, [inside])).toMatchObject([{ location: inside, name: 'a.csv' }]);
    const below = join(directory, 'sub');
    expect(await listIn(below, [inside])).toMatchObject([{ location: inside, name: inside }]);
    expect((await listIn(below, ['../[ab].csv'])).map(({ location }) => location)).toEqual([
      inside,
      join(directory, 'b.csv'),
    ]);
  });

  const missing = ['none.csv', 'none*.csv', 'folder.c*', 'a.csv/b.csv', 'none/*.csv'];
  it.each(missing)('%o: ETL_SOURCE_NOT_FOUND, also beside what is there', async (pattern) => {
    const error: unknown = await namesOf('a.csv', pattern).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EtlError);
    expect(error).toMatchObject({
      code: 'ETL_SOURCE_NOT_FOUND',
      details: { table: 't', glob: pattern, directory },
    });
  });

  it.each([
    ['exclusions alone', ['!b.csv'], '!b.csv'],
    ['exclusions that leave nothing', ['[ab].csv', '![ab].*'], '[ab].csv, ![ab].*'],
  ])('%s: ETL_SOURCE_NOT_FOUND', async (_, patterns, glob) => {
    await expect(namesOf(...patterns)).rejects.toMatchObject({
      code: 'ETL_SOURCE_NOT_FOUND',
      details: { table: 't', glob, directory },
    });
  });

  it.each(['a\0.csv'])('%o: ETL_SOURCE_UNREADABLE', async (pattern) => {
    await expect(namesOf(pattern)).rejects.toMatchObject({
      code: 'ETL_SOURCE_UNREADABLE',
      details: { table: 't' },
    });
  });
});

/** Makes a directory of files (`name`) and links (`name -> target`). */
const placeOf = async (entries: readonly string[]): Promise<string> => {
  // Outside of the directory of the other cases, whose globs go to any depth.
  const place = await mkdtemp(join(directory, '../links-'));
  for (const entry of entries) {
    const [name = '', target] = entry.split(' -> ');
    await mkdir(dirname(join(place, name)), { recursive: true });
    await (target === undefined ? writeFile(join(place, name), name) : symlink(target, join(place, name)));
  }
  return place;
};

const listed = async (entries: readonly string[], ...patterns: string[]): Promise<string[]> =>
  (await listIn(await placeOf(entries), patterns)).map(({ name }) => name);

describe('accents in names', () => {
  const composed = 'Größe/é (1).csv';
  const decomposed = composed.normalize('NFD');
  const mixed = `${composed.slice(0, 6)}${decomposed.slice(7)}`;

  it.each([
    ['a path', composed],
    ['a glob', 'Größe/é*.csv'],
    ['a glob over folders', '{Größe,none}/*1*.csv'],
  ])('are found by %s in either form, as the file system writes them', async (_, pattern) => {
    for (const file of [composed, decomposed, mixed])
      for (const form of ['NFC', 'NFD'] as const)
        expect(await listed([file], pattern.normalize(form))).toEqual([file]);
  });

  it('are no reason to take a file for another that has exactly that name', async () => {
    expect(await listed([composed, decomposed], decomposed)).toEqual([decomposed]);
    expect((await listed([composed, decomposed], 'Größe/*')).length).toBe(2);
  });
});

describe('links', () => {
  /**
   * Names with line breaks. The second surrogate of the last name is that of a hidden line break.
   */
  const broken = ['\nn', '\rr', 'i\nn', 'i\u2028s', '\u2028s', '\u2029p', '🐊'].map(
    (name) => `d/${name}.csv`,
  );
  const linked: [name: string, entries: string, patterns: string, found: string][] = [
    [
      'to files and directories elsewhere are followed',
      'far/x/a.csv, far/b.csv, d/x -> ../far/x, d/b.csv -> ../far/b.csv, d/c.csv',
      'd/**/*.csv',
      'd/b.csv, d/c.csv, d/x/a.csv',
    ],
    [
      'to files that are found anyway, and round in a circle, give no file twice',
      'd/2024/a.csv, d/current -> 2024, d/latest.csv -> 2024/a.csv, d/2024/up -> ..',
      'd/**/*.csv',
      'd/2024/a.csv',
    ],
    [
      'give way to the file itself, which is listed by its own name',
      'd/a.csv -> b.csv, d/b.csv, d/c.csv',
      'd/*.csv',
      'd/b.csv, d/c.csv',
    ],
    [
      'give way to it also when another pattern finds it',
      'latest.csv -> d/b.csv, d/b.csv, d/c.csv',
      'latest.csv, d/*.csv',
      'd/b.csv, d/c.csv',
    ],
    [
      'of which none is the file itself: the first by name',
      'far/a.csv, d/y.csv -> ../far/a.csv, d/x.csv -> y.csv',
      'd/*.csv',
      'd/x.csv',
    ],
    [
      'that lead into each other come to an end',
      'd/a/1.csv, d/b/2.csv, d/a/b -> ../b, d/b/a -> ../a, d/a/self -> .',
      'd/**/*.csv',
      'd/a/1.csv, d/b/2.csv',
    ],
    [
      'that lead nowhere, where the pattern does not, are no matter',
      'd/a.csv, d/notes.txt -> nowhere, d/.#a.csv -> nobody@nowhere, e/b.csv -> nowhere',
      'd/*.csv',
      'd/a.csv',
    ],
    [
      'to what is no file are no matter, where the pattern does not match them',
      'd/a.csv, d/null -> /dev/null',
      'd/*.csv',
      'd/a.csv',
    ],
    ...['*', '?*', '[!a]*', '{a,?}*', '**/*'].map((glob): [string, string, string, string] => [
      `or files in whose names lines end: ${glob}`,
      broken.join(', '),
      `d/${glob}.csv`,
      broken.join(', '),
    ]),
    [
      'to and in directories in whose names lines end',
      'far\n/x\r.csv, d\n/e\r -> ../far\n, d\n/\u2028/y.csv, d\n/z.csv',
      'd\n/**/*.csv, !d?/[\nz]*',
      'd\n/e\r/x\r.csv, d\n/\u2028/y.csv',
    ],
  ];
  it.each(linked)('%s', async (_, entries, patterns, found) =>
    expect(await listed(entries.split(', '), ...patterns.split(', '))).toEqual(found.split(', ')),
  );

  it.each([
    { entries: ['d/a.csv', 'd/2023 -> /mnt/gone'], pattern: 'd/**/*.csv', names: 'd/2023' },
    { entries: ['d/1/a.csv', 'd/2 -> /mnt/gone'], pattern: 'd/*/a.csv', names: 'd/2' },
  ])(
    'to a directory $names that is gone: ETL_SOURCE_UNREADABLE with $pattern, because its files are unknown',
    async ({ entries, pattern, names }) => {
      const error: unknown = await listed(entries, pattern).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'ETL_SOURCE_UNREADABLE', details: { table: 't', file: names } });
    },
  );

  it.each([
    { entries: ['d/a.csv', 'd/b.csv -> /nonexistent'], pattern: 'd/*.csv' },
    { entries: ['d/a.csv', 'd/b.csv -> nowhere'], pattern: 'd/**/*.csv' },
    { entries: ['d/a.csv', 'd/b.csv -> b.csv'], pattern: 'd/[ab].csv' },
    { entries: ['d/a.csv', 'd/b.csv -> a.csv/x'], pattern: 'd/**/?.csv' },
  ])(
    '$entries, which leads nowhere, is listed with its refusal by $pattern',
    async ({ entries, pattern }) => {
      const place = await placeOf(entries);
      expect(await listIn(place, [pattern])).toMatchObject([
        { name: 'd/a.csv', version: expect.any(String) },
        {
          name: 'd/b.csv',
          refusal: { code: 'ETL_SOURCE_UNREADABLE', message: expect.stringContaining('leads nowhere') },
        },
      ]);
    },
  );

  it('that lead nowhere, by name: ETL_SOURCE_NOT_FOUND or ETL_SOURCE_UNREADABLE', async () => {
    await expect(listed(['b.csv -> nowhere'], 'b.csv')).rejects.toMatchObject({
      code: 'ETL_SOURCE_NOT_FOUND',
    });
    await expect(listed(['b.csv -> b.csv'], 'b.csv')).rejects.toMatchObject({
      code: 'ETL_SOURCE_UNREADABLE',
    });
  });
});

it('a directory that this user may not read, and that a glob leads into: ETL_SOURCE_UNREADABLE', async () => {
  const place = await mkdtemp(join(tmpdir(), 'sluice-closed-'));
  try {
    await mkdir(join(place, 'd/open'), { recursive: true });
    await mkdir(join(place, 'd/closed'));
    for (const file of ['d/open/a.csv', 'd/closed/b.csv']) await writeFile(join(place, file), 'n\n');
    await chmod(place, 0o755);
    await chmod(join(place, 'd/closed'), 0o000);
    await mkdir(join(place, 'work'));
    const program = fileURLToPath(new URL('../../../helpers/list-as.ts', import.meta.url));
    const say = async (pattern: string, cwd = '.'): Promise<unknown> => {
      const { out, err } = await runTypeScript(program, [pattern], { cwd: join(place, cwd), env: {} });
      return JSON.parse(out || JSON.stringify(err));
    };
    // A directory that the pattern does not enter may be unreadable.
    await chmod(join(place, 'd'), 0o711);
    expect(await say('d/open/*.csv')).toEqual(['d/open/a.csv']);
    expect(await say(join(place, 'd/open/*.csv'), 'work')).toEqual([join(place, 'd/open/a.csv')]);
    await chmod(join(place, 'd'), 0o755);
    expect(await say('d/**/*.csv')).toMatchObject({
      code: 'ETL_SOURCE_UNREADABLE',
      message: expect.stringContaining('table t: cannot read d/closed: EACCES'),
    });
  } finally {
    await chmod(join(place, 'd/closed'), 0o755);
    await rm(place, { recursive: true });
  }
});

describe('what is no regular file', () => {
  let irregular: string;
  const socket = createServer();
  beforeAll(async () => {
    irregular = await mkdtemp(join(tmpdir(), 'sluice-irregular-'));
    execFileSync('mkfifo', [join(irregular, 'pipe.csv')]);
    await mkdir(join(irregular, 'data'));
    await symlink('/dev/null', join(irregular, 'device.csv'));
    socket.listen(join(irregular, 'socket.csv'));
    await once(socket, 'listening');
  });
  afterAll(async () => {
    socket.close();
    await rm(irregular, { recursive: true, force: true });
  });

  it.each([
    { pattern: 'data', what: 'a directory', hint: "csv('data/*.csv')" },
    { pattern: '', what: 'a directory', hint: "csv('./*.csv')" },
    { pattern: 'pipe.csv', what: 'a named pipe', hint: 'Write the data to a file first' },
    { pattern: 'socket.csv', what: 'a socket', hint: 'Write the data to a file first' },
    { pattern: 'device.csv', what: 'a device', hint: 'Write the data to a file first' },
  ])('$pattern is $what, and nobody waits for it', async ({ pattern, what, hint }) => {
    const error = await listIn(irregular, [pattern]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ETL_SOURCE_IRREGULAR', details: { what } });
    expect((error as EtlError).hint).toContain(hint);
  });

  it('is listed with its refusal where a glob matches it, and nobody waits for it', async () => {
    const found = await listIn(irregular, ['{pip,dev,sock}*.csv']);
    expect(found.map(({ name, refusal }) => [name, refusal?.code, refusal?.details['what']])).toEqual([
      ['device.csv', 'ETL_SOURCE_IRREGULAR', 'a device'],
      ['pipe.csv', 'ETL_SOURCE_IRREGULAR', 'a named pipe'],
      ['socket.csv', 'ETL_SOURCE_IRREGULAR', 'a socket'],
    ]);
    await expect(listIn(irregular, ['d*.csv', 'pipe.csv'])).rejects.toMatchObject({
      code: 'ETL_SOURCE_IRREGULAR',
    });
  });

  it('a pipe or socket without a name is refused as one, and the hint names standard input', async () => {
    const child = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await once(child, 'spawn');
    const failure = listIn('/', [`/proc/${child.pid}/fd/0`]).catch((thrown: unknown) => thrown);
    const { code, hint } = (await failure) as EtlError;
    child.kill();
    expect([code, hint]).toEqual(['ETL_SOURCE_IRREGULAR', expect.stringContaining("csv('-')")]);
  });

  it('one that takes the place of a listed file is not waited for', () =>
    expect(lookAtFile(join(irregular, 'pipe.csv'))).rejects.toThrow(
      'it is a named pipe, not a regular file',
    ));

  it('one that is excluded, or that no pattern matches, is nobody’s business', async () => {
    await writeFile(join(irregular, 'real.csv'), 'a');
    const found = await listIn(irregular, ['*.csv', '!pipe.csv', '!socket.csv', '!device.csv']);
    expect(found.map(({ name }) => name)).toEqual(['real.csv']);
    expect(await listIn(irregular, ['real*'])).toHaveLength(1);
  });
});

it('a file that is moved away while files are listed is not listed, and stops nothing', async () => {
  const place = await mkdtemp(join(tmpdir(), 'sluice-moving-'));
  await writeFile(join(place, 'stays.csv'), 'n\n');
  let isMoving = true;
  const move = async (): Promise<void> => {
    for (let number = 0; isMoving; number += 1) {
      const path = join(place, `${number % 20}.csv`);
      await writeFile(path, 'n\n');
      await rm(path);
    }
  };
  const moving = move();
  try {
    for (let round = 0; round < 300; round += 1)
      expect((await listIn(place, ['*.csv'])).map(({ name }) => name)).toContain('stays.csv');
  } finally {
    isMoving = false;
    await moving;
    await rm(place, { recursive: true });
  }
});
