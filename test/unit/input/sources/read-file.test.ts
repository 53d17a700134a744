// Fingerprints, first bytes and ranges of real files.

import {
  appendFile,
  mkdtemp,
  readdir,
  readlink,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintSampleBytes } from '../../../../src/core/limits.ts';
import { localFiles } from '../../../../src/input/sources/local-files.ts';
import { lookAtFile, readRange } from '../../../../src/input/sources/read-file.ts';

const content = Buffer.from(
  Array.from({ length: 3 * fingerprintSampleBytes }, (_, index) => (index * 7) % 251),
);

let directory: string;
let path: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-read-'));
  path = join(directory, 'a.csv');
});
beforeEach(() => writeFile(path, content));
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Overwrites bytes, and keeps the file's size and times. */
const change = async (offset: number): Promise<void> => {
  const { atime, mtime } = await stat(path);
  const changed = Buffer.from(content);
  changed[offset] = changed[offset]! ^ 1;
  await writeFile(path, changed);
  await utimes(path, atime, mtime);
};

describe('lookAtFile', () => {
  // Whole seconds, because times of two writes differ by parts of a microsecond.
  const atSecond = (second: number): Promise<void> => utimes(path, second, second);

  it('is the same for a file that nobody touched', async () => {
    expect(await lookAtFile(path)).toEqual(await lookAtFile(path));
    expect((await lookAtFile(path)).bytes).toBe(content.length);
  });

  const differing: readonly { name: string; act: () => Promise<void> }[] = [
    { name: 'its first byte', act: () => change(0) },
    { name: 'its last byte', act: () => change(content.length - 1) },
    { name: 'its length', act: () => appendFile(path, 'x').then(() => atSecond(1000)) },
    { name: 'its time', act: () => atSecond(1001) },
  ];
  it.each(differing)('differs when a file differs in $name', async ({ act }) => {
    await atSecond(1000);
    const { fingerprint } = await lookAtFile(path);
    await act();
    expect((await lookAtFile(path)).fingerprint).not.toBe(fingerprint);
  });

  it('reads an empty file and one that is shorter than a sample', async () => {
    await writeFile(path, '');
    expect(await lookAtFile(path)).toMatchObject({ bytes: 0, fingerprint: expect.stringMatching(/^0:/) });
    await writeFile(path, 'a');
    expect((await lookAtFile(path)).bytes).toBe(1);
  });

  it('passes on what the system says', async () => {
    await expect(lookAtFile(join(directory, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(lookAtFile(directory)).rejects.toMatchObject({ code: 'EISDIR' });
  });
});

const named = (file: string) => ({ location: file, name: 'the-file.csv', table: 'rows' });

const blocksOf = async (...range: Parameters<typeof readRange>): Promise<Buffer[]> => {
  const blocks: Buffer[] = [];
  for await (const block of readRange(...range)) blocks.push(block);
  return blocks;
};

describe('readRange', () => {
  const ranges: [name: string, start: number, end: number, block: number, lengths: readonly number[]][] = [
    ['in blocks, the last one shorter', 5, 30, 10, [10, 10, 5]],
    ['in whole blocks', 0, 20, 10, [10, 10]],
    ['in one block', 7, 8, 10, [1]],
    ['of nothing', 7, 7, 10, []],
    ['that ends after the end of the file', content.length - 4, content.length + 50, 10, [4]],
    ['after the end of the file', content.length + 1, content.length + 50, 10, []],
  ];
  it.each(ranges)('%s', async (_, start, end, block, lengths) => {
    const blocks = await blocksOf(named(path), start, end, block);
    expect(blocks.map(({ length }) => length)).toEqual(lengths);
    expect(Buffer.concat(blocks).equals(content.subarray(start, end))).toBe(true);
  });

  it('names table and file when it cannot be read', async () => {
    await expect(blocksOf(named(`${path}.gone`), 0, 10)).rejects.toMatchObject({
      code: 'ETL_SOURCE_UNREADABLE',
      details: { table: 'rows', file: 'the-file.csv' },
    });
    await expect(blocksOf(named(dirname(path)), 0, 10)).rejects.toMatchObject({
      code: 'ETL_SOURCE_UNREADABLE',
      cause: { code: 'EISDIR' },
    });
  });

  it('gives each block its own memory', async () => {
    const [first, second] = await blocksOf(named(path), 0, 20, 10);
    expect(first!.buffer).not.toBe(second!.buffer);
    expect(first!.equals(content.subarray(0, 10))).toBe(true);
  });

  it('ends early when the file becomes shorter', async () => {
    const lengths: number[] = [];
    for await (const { length } of readRange(named(path), 0, content.length, 1000)) {
      lengths.push(length);
      if (lengths.length === 1) await truncate(path, 2500);
    }
    expect(lengths).toEqual([1000, 1000, 500]);
  });

  const openFiles = async (): Promise<string[]> => {
    const links = (await readdir('/proc/self/fd')).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ''),
    );
    return Promise.all(links);
  };

  it.skipIf(process.platform !== 'linux')('closes the file when the receiver stops', async () => {
    const reads = readRange(named(path), 0, content.length, 10);
    await reads.next();
    expect(await openFiles()).toContain(path);
    await reads.return(undefined);
    expect(await openFiles()).not.toContain(path);
  });
});

it('the file that another host has planned is here under other times, is another one, or is not here', async () => {
  const { fingerprint } = await lookAtFile(path);
  const problem = () => localFiles.problemHere!({ location: path, fingerprint });
  await utimes(path, 1, 1);
  expect(await problem()).toBeUndefined();
  await change(0);
  expect(await problem()).toContain('has other contents');
  await rm(path);
  expect(await problem()).toContain('ENOENT');
});
