// What is said of a table while it loads, also when nobody knows yet how many bytes its files have.

import { expect, it } from 'vitest';
import type { SourceFile } from '../../../src/core/model.ts';
import type { RunEvent } from '../../../src/core/run-event.ts';
import { followTable } from '../../../src/load/progress.ts';

const fileOf = (id: number, change: Partial<SourceFile> = {}): SourceFile => ({
  id,
  runId: 1,
  runStarted: '',
  table: 't',
  source: 'file',
  location: `/${id}.csv`,
  member: null,
  name: `${id}.csv`,
  ordinal: id,
  bytes: 1_000,
  fingerprint: '',
  decoding: null,
  encoding: 'utf-8',
  reading: 0,
  part: null,
  header: ['a'],
  dataByte: 100,
  dataLine: 2,
  dataEnd: 1_000,
  lineEnd: 'lf',
  constants: {},
  differs: null,
  ...change,
});

const decodedFile = (change: Partial<SourceFile> = {}): SourceFile =>
  fileOf(2, { decoding: 'gzip', dataEnd: null, ...change });

const counts = { records: 1, copied: 1, rejected: 0, filtered: 0 };

const follow = (files: readonly SourceFile[], loadedBytes = 0) => {
  const events: RunEvent[] = [];
  const chunk = { fileId: 2, start: 100, end: { byte: 100 + loadedBytes, line: 3, record: 2 }, ...counts };
  const byId = new Map(files.map((file) => [file.id, file]));
  const progress = followTable('t', byId, loadedBytes === 0 ? [] : [chunk], (event) => events.push(event));
  const timesLoaded = (): number => events.filter(({ type }) => type === 'loaded').length;
  const last = () => events.findLast((event) => event.type === 'progress')!;
  return { progress, timesLoaded, last };
};

it.each([
  { name: 'its header is longer than what is stored', file: decodedFile({ bytes: 50 }), loadedBytes: 0 },
  { name: 'more of it is loaded than is stored', file: decodedFile(), loadedBytes: 5_000 },
])('a file whose end is not known is not loaded when $name', ({ file, loadedBytes }) => {
  const { progress, timesLoaded, last } = follow([file], loadedBytes);
  expect(timesLoaded()).toBe(0);
  expect(last().bytesTotal).toBeGreaterThanOrEqual(last().bytes);
  progress.add(9_900 - loadedBytes, counts);
  progress.endAt(2, 10_000);
  progress.segmentDone(2);
  expect(timesLoaded()).toBe(1);
  expect(last()).toMatchObject({ bytes: 9_900, bytesTotal: 9_900 });
});

it('a table is not loaded while the end of one of its files is a guess', () => {
  const { progress, timesLoaded, last } = follow([fileOf(1), decodedFile()]);
  progress.add(5_000, counts);
  progress.endAt(2, 3_000);
  progress.add(900, counts);
  progress.segmentDone(1);
  expect(timesLoaded()).toBe(0);
  progress.add(4_900, counts);
  progress.endAt(2, 10_000);
  progress.segmentDone(2);
  expect(timesLoaded()).toBe(1);
  expect(last()).toMatchObject({ bytes: 10_800, bytesTotal: 10_800 });
});
