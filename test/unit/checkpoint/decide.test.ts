// Nothing to do, continue, or begin anew: every situation as one row.

import { describe, expect, it } from 'vitest';
import { decideBeginning, type Situation } from '../../../src/checkpoint/decide.ts';
import type { LatestRun, NewFile } from '../../../src/checkpoint/ledger.ts';

const file = (path: string, fingerprint = 'same'): NewFile => ({
  table: 't',
  path,
  name: path,
  ordinal: 0,
  bytes: 1,
  fingerprint,
  header: ['a'],
  dataByte: 0,
  dataLine: 1,
});

const stored = (path: string) => ({ ...file(path), id: 1, runId: 7 });

const latest = (change: Partial<LatestRun> = {}): LatestRun => ({
  id: 7,
  state: 'loading',
  definitionHash: 'h',
  tableHashes: { t: 'a', u: 'b' },
  epoch: 'e',
  generation: 1,
  errorCode: null,
  ...change,
});

const situation = (change: Partial<Situation> = {}): Situation => ({
  latest: latest(),
  before: [stored('a.csv')],
  now: [file('a.csv')],
  definitionHash: 'h',
  tableHashes: { t: 'a', u: 'b' },
  stagingIsThere: true,
  fresh: false,
  ...change,
});

const cases: readonly { name: string; given: Partial<Situation>; kind: string; why?: string | undefined }[] =
  [
    { name: 'the first run of a pipeline', given: { latest: undefined, before: [] }, kind: 'new' },
    { name: 'after a published run', given: { latest: latest({ state: 'published' }) }, kind: 'new' },
    { name: 'an interrupted run', given: {}, kind: 'resume' },
    {
      name: 'a run that was stopped by a signal',
      given: { latest: latest({ state: 'cancelled' }) },
      kind: 'resume',
    },
    { name: 'a run that failed', given: { latest: latest({ state: 'failed' }) }, kind: 'resume' },
    {
      name: 'a run that died while publishing',
      given: { latest: latest({ state: 'publishing' }) },
      kind: 'resume',
    },
    { name: '--fresh', given: { fresh: true }, kind: 'new', why: 'everything is to be loaded again' },
    {
      name: 'another definition',
      given: { definitionHash: 'other', tableHashes: { t: 'changed', u: 'b' } },
      kind: 'new',
      why: 'the definition changed since then (table t)',
    },
    {
      name: 'other parameters',
      given: { definitionHash: 'other' },
      kind: 'new',
      why: 'the definition changed since then (its parameters)',
    },
    {
      name: 'a new file',
      given: { now: [file('a.csv'), file('b.csv')] },
      kind: 'new',
      why: 'there is a new file, b.csv',
    },
    { name: 'a file that is gone', given: { now: [] }, kind: 'new', why: 'a.csv is no longer there' },
    {
      name: 'staging dropped by hand',
      given: { stagingIsThere: false },
      kind: 'new',
      why: 'its staging tables are gone',
    },
    {
      name: 'a run that lost count',
      given: { latest: latest({ state: 'failed', errorCode: 'ETL_INCOMPLETE' }) },
      kind: 'new',
      why: 'its staging tables do not hold what the ledger says',
    },
    {
      name: 'a changed file of an interrupted run',
      given: { now: [file('a.csv', 'other')] },
      kind: 'changed file',
    },
    {
      name: 'a mended file of a failed run',
      given: { latest: latest({ state: 'failed' }), now: [file('a.csv', 'other')] },
      kind: 'new',
      why: 'a.csv has changed',
    },
  ];

describe('decideBeginning', () => {
  it.each(cases)('$name: $kind', ({ given, kind, why }) => {
    const beginning = decideBeginning(situation(given));
    expect(beginning.kind).toBe(kind);
    if (why !== undefined)
      expect(beginning).toMatchObject({ why: `run 7 was not finished; starting anew, because ${why}` });
  });
});
