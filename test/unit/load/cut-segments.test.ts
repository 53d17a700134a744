// How large the pieces are that files are cut into, and when they are left whole.

import { describe, expect, it } from 'vitest';
import { segmentBytesMin, segmentsPerJobMax } from '../../../src/core/limits.ts';
import { jobsOf, pieceBytes } from '../../../src/load/cut-segments.ts';

const MiB = 1024 * 1024;
const chunkBytes = 32 * MiB;

describe('pieceBytes', () => {
  const cases: readonly { name: string; sizes: readonly number[]; workers: number; bytes: number }[] = [
    { name: 'one file, one worker: whole', sizes: [1000], workers: 1, bytes: Infinity },
    { name: 'two equal files, two workers: whole', sizes: [1000, 1000], workers: 2, bytes: Infinity },
    { name: 'six equal files, two workers: whole', sizes: Array(6).fill(100), workers: 2, bytes: Infinity },
    { name: 'one large file, two workers: two chunks each', sizes: [10_000], workers: 2, bytes: 64 },
    { name: 'one middling file: four pieces a worker', sizes: [160], workers: 2, bytes: 20 },
    { name: 'one small file: no smaller than the least', sizes: [20], workers: 4, bytes: 8 },
    { name: 'three equal files, two workers: cut', sizes: [1000, 1000, 1000], workers: 2, bytes: 64 },
    { name: 'nearly even: whole', sizes: [1000, 900], workers: 2, bytes: Infinity },
    {
      name: 'many small files and a large one: cut',
      sizes: [2000, ...Array(10).fill(1)],
      workers: 4,
      bytes: 64,
    },
  ];
  it.each(cases)('$name', ({ sizes, workers, bytes }) => {
    expect(
      pieceBytes(
        sizes.map((size) => size * MiB),
        workers,
        chunkBytes,
      ),
    ).toBe(bytes * MiB);
  });
});

describe('jobsOf', () => {
  const gaps = (...sizes: readonly number[]) =>
    sizes.map((size, index) => ({ fileId: index, start: { byte: 0, line: 1, record: 1 }, byteEnd: size }));
  const cases: readonly { name: string; sizes: number[]; workers: number; jobs: number[] }[] = [
    { name: 'nothing', sizes: [], workers: 2, jobs: [] },
    { name: 'few files: a job each', sizes: [10, 10, 10], workers: 2, jobs: [1, 1, 1] },
    {
      name: 'sixteen files: every worker gets four jobs',
      sizes: Array(16).fill(10),
      workers: 2,
      jobs: Array(8).fill(2),
    },
    { name: 'small ones beside a large one', sizes: [1, 1, 1, 90, 1, 1, 5], workers: 2, jobs: [3, 1, 3] },
    {
      name: 'thousands: no more than a job may have',
      sizes: Array(1000).fill(1),
      workers: 1,
      jobs: Array(10).fill(segmentsPerJobMax),
    },
    {
      name: 'large ones: not together',
      sizes: Array(100).fill(0.6 * segmentBytesMin),
      workers: 1,
      jobs: Array(100).fill(1),
    },
  ];
  it.each(cases)('$name', ({ sizes, workers, jobs }) => {
    const made = jobsOf(gaps(...sizes), workers, ({ byteEnd }) => byteEnd!);
    expect(made.map(({ length }) => length)).toEqual(jobs);
    expect(made.flat()).toEqual(gaps(...sizes));
  });
});
