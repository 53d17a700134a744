// The summary of a run, line for line.

import { expect, it } from 'vitest';
import type { Paint } from '../../../../src/cli/paint.ts';
import { publishedLines, unchangedLines } from '../../../../src/cli/text/summary.ts';
import type { RunResult, TableResult } from '../../../../src/core/model.ts';

const plain: Paint = (_, text) => text;

const table = (part: Partial<TableResult>): TableResult => ({
  table: 'observation',
  schema: 'noaa',
  kind: 'source',
  files: 6,
  bytes: 870_000_000,
  records: 6_000_000,
  copied: 5_999_877,
  rejected: 3,
  filtered: 120,
  seconds: 4.2,
  rowsBefore: 5_900_000,
  rows: 5_999_877,
  strategy: 'swap',
  ...part,
});

const result: RunResult = {
  runId: 3,
  pipeline: 'noaa',
  outcome: 'published',
  publishedAt: new Date(2026, 2, 1, 9, 5, 0),
  tables: [
    table({}),
    table({
      table: 'daily',
      kind: 'derived',
      files: 0,
      bytes: 0,
      records: 0,
      rejected: 0,
      filtered: 0,
      seconds: 0.7,
      rowsBefore: null,
      rows: 36_000,
      strategy: 'in place',
    }),
  ],
  steps: [
    { step: 'plan', seconds: 0.1 },
    { step: 'load', seconds: 4.3 },
    { step: 'build', seconds: 1.6 },
    { step: 'publish', seconds: 0 },
  ],
  seconds: 6.04,
};

it('a published run: tables, total, steps, rejects, and what was replaced in place', () =>
  expect(publishedLines(result, new Map(), Infinity, plain)).toEqual([
    'Published noaa in 6.0 s, run 3 (plan 0.1 s · load 4.3 s · build 1.6 s · publish 0.0 s)',
    '',
    'table             files   bytes    records  rejected  filtered  seconds  records/s  rows before       rows',
    'noaa.observation      6  870 MB  6,000,000         3       120      4.2  1,428,571    5,900,000  5,999,877',
    'noaa.daily            –       –          –         –         –      0.7          –            –     36,000',
    'total                 6  870 MB  6,000,000         3       120      6.0    993,377    5,900,000  6,035,877',
    '',
    '3 records rejected: see npx etl rejects list 3.',
    'Rows were replaced in place: daily.',
  ]));

it('a narrow window has fewer columns, and lines that go on below', () =>
  expect(publishedLines(result, new Map(), 80, plain)).toEqual([
    'Published noaa in 6.0 s, run 3 (plan 0.1 s · load 4.3 s · build 1.6 s · publish',
    '  0.0 s)',
    '',
    'table               records  rejected  filtered  seconds  rows before       rows',
    'noaa.observation  6,000,000         3       120      4.2    5,900,000  5,999,877',
    'noaa.daily                –         –         –      0.7            –     36,000',
    'total             6,000,000         3       120      6.0    5,900,000  6,035,877',
    '',
    '3 records rejected: see npx etl rejects list 3.',
    'Rows were replaced in place: daily.',
  ]));

it('what became of the records of a table that is merged', () => {
  const changes = { superseded: 0, deleted: 4, updated: 1_200, unchanged: 5, inserted: 3 };
  const tables = result.tables.map((one) => ({ ...one, strategy: 'merge', changes }));
  expect(publishedLines({ ...result, tables: tables.slice(0, 1) }, new Map(), Infinity, plain)).toContain(
    'Merged into observation: 3 inserted, 1,200 updated, 5 unchanged, 4 deleted, 0 superseded.',
  );
});

it('the rate is that of this process, whatever an earlier one had loaded', () =>
  expect(
    publishedLines(result, new Map([['observation', 5_900_000]]), Infinity, plain)
      .slice(3, 6)
      .map((line) => line.split(/ {2,}/).at(-3)),
  ).toEqual(['23,810', '–', '16,556']));

it('a single table needs no total', () =>
  expect(
    publishedLines({ ...result, tables: [table({ rejected: 0 })] }, new Map(), Infinity, plain),
  ).toHaveLength(4));

it('nothing to do names the run and when it was published', () =>
  expect(unchangedLines({ ...result, outcome: 'unchanged' }, Infinity)).toEqual([
    'Nothing to do: files and definition are the same as in run 3, published 2026-03-01 09:05:00; ' +
      '--full-refresh loads everything again.',
  ]));
