// Nothing to do, continue, or start over: one row for each situation.

import { expect, it } from 'vitest';
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
  directory: null,
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
  vanished: new Set(),
  recorrected: new Set(),
  fresh: false,
  ...change,
});

/** Adds a second table whose files are loaded and unchanged. */
const besideAnother = (given: Partial<Situation>): Partial<Situation> => ({
  ...given,
  latest: latest({ stagedHashes: { t: 'a', u: 'b' } }),
  stagedHashes: { u: 'b', ...(given.stagedHashes ?? { t: 'a' }) },
  before: [...(given.before ?? [stored('a.csv')]), of('u', stored('u.csv'))],
  now: [...(given.now ?? [file('a.csv')]), { ...file('u.csv'), table: 'u' }],
});

const cases: [
  name: string,
  kind: 'new' | 'resume',
  given: Partial<Situation>,
  why?: string,
  changes?: readonly object[],
][] = [
  ['the first run of a pipeline', 'new', { latest: undefined, before: [] }],
  ['after a published run', 'new', { latest: latest({ state: 'published' }) }],
  ['an interrupted run', 'resume', {}],
  ['an interrupted run of which nothing is loaded', 'resume', { before: [stored('a.csv', false)] }],
  ['a run that was stopped', 'resume', { latest: latest({ state: 'cancelled' }) }],
  ['a run that failed', 'resume', { latest: latest({ state: 'failed' }) }],
  ['a run that died while publishing', 'resume', { latest: latest({ state: 'publishing' }) }],
  ['another definition that shapes the same rows', 'resume', { latest: latest({ definitionHash: 'other' }) }],
  ['--fresh', 'new', { fresh: true }, 'you asked for it'],
  [
    'another definition',
    'new',
    { stagedHashes: { t: 'changed' } },
    'the definition changed since then (table t)',
  ],
  [
    'another definition of one of two tables',
    'resume',
    besideAnother({ stagedHashes: { t: 'changed' } }),
    undefined,
    [{ table: 't', isKept: false, why: 'the definition changed since then (table t)' }],
  ],
  [
    'a new file',
    'resume',
    { now: [file('a.csv'), file('b.csv')] },
    undefined,
    [{ table: 't', isKept: true, why: 'there is a new file, b.csv' }],
  ],
  ['a file that is gone, of which something is loaded', 'new', { now: [] }, 'a.csv is no longer there'],
  [
    'a file that is gone, of which nothing is loaded',
    'resume',
    { before: [stored('a.csv'), stored('b.csv', false)] },
    undefined,
    [{ table: 't', isKept: true, why: 'b.csv is no longer there' }],
  ],
  ['staging dropped by hand', 'new', { landings: new Set() }, 'the staging table of t is gone'],
  [
    'staging of one of two tables dropped by hand',
    'resume',
    besideAnother({ landings: new Set(['u']) }),
    undefined,
    [{ table: 't', isKept: false, why: 'the staging table of t is gone' }],
  ],
  [
    'a run that lost count',
    'new',
    { latest: latest({ state: 'failed', errorCode: 'ETL_INCOMPLETE' }) },
    'its staging tables do not hold what the ledger says',
  ],
  [
    'rows that vanished from the only table with loaded files',
    'new',
    { latest: latest({ state: 'failed', errorCode: 'ETL_INCOMPLETE' }), vanished: new Set(['t']) },
    'rows have vanished from the staging table of t',
  ],
  [
    'rows that vanished from one of two tables',
    'resume',
    besideAnother({ vanished: new Set(['t']) }),
    undefined,
    [{ table: 't', isKept: false, why: 'rows have vanished from the staging table of t' }],
  ],
  ['a changed file of an interrupted run', 'new', { now: [file('a.csv', 'other')] }, 'a.csv has changed'],
  [
    'a file that is read in another way',
    'new',
    { now: [{ ...file('a.csv'), reading: 1 }] },
    'a.csv has changed',
  ],
  [
    'a changed file of a failed run',
    'new',
    { latest: latest({ state: 'failed' }), now: [file('a.csv', 'other')] },
    'a.csv has changed',
  ],
  [
    'a changed file of one of two tables',
    'resume',
    besideAnother({ now: [file('a.csv', 'other')] }),
    undefined,
    [{ table: 't', isKept: false, why: 'a.csv has changed' }],
  ],
  [
    'a changed file of which nothing is loaded',
    'resume',
    { before: [stored('a.csv'), stored('b.csv', false)], now: [file('a.csv'), file('b.csv', 'other')] },
    undefined,
    [{ table: 't', isKept: true, why: 'b.csv has changed' }],
  ],
  [
    'a table that is gone, and another one of which nothing is left',
    'new',
    { before: [of('gone', stored('a.csv')), stored('a.csv')], now: [file('a.csv', 'other')] },
    'a.csv has changed',
  ],
];

it.each(cases)('decideBeginning %s: %s', (_, kind, given, why, changes = []) => {
  const because = why && `run 7 is unfinished; everything is loaded again, because ${why}`;
  expect(decideBeginning(situation(given))).toEqual(
    kind === 'new' ? { kind, why: because } : { kind, runId: 7, changes },
  );
});
