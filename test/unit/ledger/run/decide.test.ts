// Nothing to do, continue, or start over: one row for each situation.

import { describe, expect, it } from 'vitest';
import { decideBeginning, type Situation } from '../../../../src/ledger/run/decide.ts';
import type { LatestRun, NewFile } from '../../../../src/ledger/run/ledger.ts';

const file = (path: string, fingerprint = 'same'): NewFile => ({
  table: 't',
  source: 'file',
  location: path,
  member: null,
  name: path,
  bytes: 1,
  fingerprint,
  decoding: null,
  encoding: 'utf-8',
  reading: 0,
  part: null,
  header: ['a'],
  dataByte: 0,
  dataLine: 1,
  dataEnd: 1,
  lineEnd: 'lf',
  constants: {},
  differs: null,
});

const stored = (path: string, isLoaded = true) => ({
  ...file(path),
  id: 1,
  runId: 7,
  runStarted: '',
  ordinal: 0,
  isLoaded,
});
const of = (table: string, known: ReturnType<typeof stored>) => ({ ...known, table });

const latest = (change: Partial<LatestRun> = {}): LatestRun => ({
  id: 7,
  state: 'loading',
  definitionHash: 'h',
  stagedHashes: { t: 'a' },
  epoch: 'e',
  generation: 1,
  isFullRefresh: false,
  errorCode: null,
  ...change,
});

const situation = (change: Partial<Situation> = {}): Situation => ({
  latest: latest(),
  before: [stored('a.csv')],
  now: [file('a.csv')],
  stagedHashes: { t: 'a' },
  landings: new Set(['t', 'u']),
  recorrected: new Set(),
  fresh: false,
  ...change,
});

interface Case {
  readonly name: string;
  readonly given: Partial<Situation>;
  readonly kind: 'new' | 'resume';
  readonly why?: string;
  readonly changes?: readonly object[];
}

/** Adds a second table whose files are loaded and unchanged. */
const besideAnother = (given: Partial<Situation>): Partial<Situation> => ({
  ...given,
  latest: latest({ stagedHashes: { t: 'a', u: 'b' } }),
  stagedHashes: { u: 'b', ...(given.stagedHashes ?? { t: 'a' }) },
  before: [...(given.before ?? [stored('a.csv')]), of('u', stored('u.csv'))],
  now: [...(given.now ?? [file('a.csv')]), { ...file('u.csv'), table: 'u' }],
});

const cases: readonly Case[] = [
  { name: 'the first run of a pipeline', given: { latest: undefined, before: [] }, kind: 'new' },
  { name: 'after a published run', given: { latest: latest({ state: 'published' }) }, kind: 'new' },
  { name: 'an interrupted run', given: {}, kind: 'resume' },
  {
    name: 'an interrupted run of which nothing is loaded',
    given: { before: [stored('a.csv', false)] },
    kind: 'resume',
  },
  { name: 'a run that was stopped', given: { latest: latest({ state: 'cancelled' }) }, kind: 'resume' },
  { name: 'a run that failed', given: { latest: latest({ state: 'failed' }) }, kind: 'resume' },
  {
    name: 'a run that died while publishing',
    given: { latest: latest({ state: 'publishing' }) },
    kind: 'resume',
  },
  {
    name: 'another definition that shapes the same rows',
    given: { latest: latest({ definitionHash: 'other' }) },
    kind: 'resume',
  },
  { name: '--fresh', given: { fresh: true }, kind: 'new', why: 'you asked for it' },
  {
    name: 'another definition',
    given: { stagedHashes: { t: 'changed' } },
    kind: 'new',
    why: 'the definition changed since then (table t)',
  },
  {
    name: 'another definition of one of two tables',
    given: besideAnother({ stagedHashes: { t: 'changed' } }),
    kind: 'resume',
    changes: [{ table: 't', isKept: false, why: 'the definition changed since then (table t)' }],
  },
  {
    name: 'a new file',
    given: { now: [file('a.csv'), file('b.csv')] },
    kind: 'resume',
    changes: [{ table: 't', isKept: true, why: 'there is a new file, b.csv' }],
  },
  {
    name: 'a file that is gone, of which something is loaded',
    given: { now: [] },
    kind: 'new',
    why: 'a.csv is no longer there',
  },
  {
    name: 'a file that is gone, of which nothing is loaded',
    given: { before: [stored('a.csv'), stored('b.csv', false)] },
    kind: 'resume',
    changes: [{ table: 't', isKept: true, why: 'b.csv is no longer there' }],
  },
  {
    name: 'staging dropped by hand',
    given: { landings: new Set() },
    kind: 'new',
    why: 'the staging table of t is gone',
  },
  {
    name: 'staging of one of two tables dropped by hand',
    given: besideAnother({ landings: new Set(['u']) }),
    kind: 'resume',
    changes: [{ table: 't', isKept: false, why: 'the staging table of t is gone' }],
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
    kind: 'new',
    why: 'a.csv has changed',
  },
  {
    name: 'a file that is read in another way',
    given: { now: [{ ...file('a.csv'), reading: 1 }] },
    kind: 'new',
    why: 'a.csv has changed',
  },
  {
    name: 'a changed file of a failed run',
    given: { latest: latest({ state: 'failed' }), now: [file('a.csv', 'other')] },
    kind: 'new',
    why: 'a.csv has changed',
  },
  {
    name: 'a changed file of one of two tables',
    given: besideAnother({ now: [file('a.csv', 'other')] }),
    kind: 'resume',
    changes: [{ table: 't', isKept: false, why: 'a.csv has changed' }],
  },
  {
    name: 'a changed file of which nothing is loaded',
    given: {
      before: [stored('a.csv'), stored('b.csv', false)],
      now: [file('a.csv'), file('b.csv', 'other')],
    },
    kind: 'resume',
    changes: [{ table: 't', isKept: true, why: 'b.csv has changed' }],
  },
  {
    name: 'a table that is gone, and another one of which nothing is left',
    given: {
      before: [of('gone', stored('a.csv')), stored('a.csv')],
      now: [file('a.csv', 'other')],
    },
    kind: 'new',
    why: 'a.csv has changed',
  },
];

describe('decideBeginning', () => {
  it.each(cases)('$name: $kind', ({ given, kind, why, changes = [] }) => {
    const because = why && `run 7 is unfinished; everything is loaded again, because ${why}`;
    expect(decideBeginning(situation(given))).toEqual(
      kind === 'new' ? { kind, why: because } : { kind, runId: 7, changes },
    );
  });
});
