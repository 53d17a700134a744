// What a profile concludes from its measurements: which part was the limit, and what staging costs.

import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, hash, list } from '../../../src/index.ts';
import { bindPipeline } from '../../../src/pipeline/bind.ts';
import { adviceOf, directAdvice } from '../../../src/run/advice.ts';
import type { Measurements } from '../../../src/core/profile.ts';

const specOf = (staging: 'typed' | 'none', change: object = {}) =>
  bindPipeline(
    definePipeline({
      name: 'p',
      schema: 's',
      tables: {
        t: { source: csv('t.csv'), staging, columns: { a: column.text('a') }, primaryKey: ['a'], ...change },
      } as never,
    }),
    { directory: '.' },
  );

const steps = [
  { step: 'plan', seconds: 1 },
  { step: 'load', seconds: 6 },
  { step: 'build', seconds: 3 },
] as const;

const machine = { step: 'load', cores: 4, busy: 0.4, own: 0.1, server: 0.2 } as const;

/** `read`, `decode` and `copy` are tenths of a second. */
const measured = (
  read: number,
  decode: number,
  copy: number,
  other: Partial<Measurements> = {},
): Measurements => ({
  load: [{ table: 't', read: 100 * read, decode: 100 * decode, copy: 100 * copy, ledger: 100 }],
  build: [
    { table: 't', what: 'rows', seconds: 2 },
    { table: 't', what: 'primary key', seconds: 1 },
  ],
  server: [{ step: 'load', doing: 'running', share: 0.9 }],
  machine: [machine],
  ...other,
});

it.each([
  ['decoding', measured(1, 80, 18), /^Decoding is the limit: 80 % .* 60 % idle/],
  ['reading', measured(80, 1, 18), /^Reading is the limit: 80 %/],
  [
    'a server that computes',
    measured(1, 18, 80),
    /^The server is the limit: 80 % .* computing in 90 % of the samples/,
  ],
  [
    'a server that waits itself',
    measured(1, 18, 80, { server: [{ step: 'load', doing: 'IO WALSync', share: 0.8 }] }),
    /^The server is the limit: .* mostly IO WALSync\. Check its disk/,
  ],
  [
    'sessions on a machine without idle cores',
    measured(1, 18, 80, { machine: [{ ...machine, busy: 0.92, own: 0.3, server: 0.6 }] }),
    /^This machine is the limit: its 4 cores were 92 % busy while loading: 60 % by the run's sessions/,
  ],
  [
    'other programs on such a machine',
    measured(1, 80, 18, { machine: [{ ...machine, busy: 1 }] }),
    /70 % by other programs, .* Without them the run is faster\.$/,
  ],
  [
    'a server that was not looked at',
    measured(1, 18, 80, { server: [] }),
    /waiting for COPY\. .* A run with --profile also looks at what the server's sessions are doing\.$/,
  ],
  [
    'such a machine, with a server that was not looked at',
    measured(1, 80, 18, { server: [], machine: [{ ...machine, busy: 1, server: 0 }] }),
    /: 90 % by other programs, among them a server on this machine, 10 % by this process\. A run with --profile tells/,
  ],
  [
    'workers that had nothing to do, because the server was away',
    measured(1, 8, 5),
    /^Waiting is the limit: workers of this process were busy for 1\.5 s of the 6\.0 s that loading took\./,
  ],
])('%s: the limit is named, with what was measured', (_, facts, limit) => {
  expect(adviceOf(facts, steps, specOf('typed'), 10.5)[0]).toMatch(limit);
});

it('says what staging costs where it could be left out, and only there', () => {
  // Two thirds of building, 2 s, less a fifth of the 0.6 s that COPY was waited for: 1.88 s.
  const advised = adviceOf(measured(9, 80, 10), steps, specOf('typed'), 10.5);
  expect(advised.at(-1)).toMatch(/^staging: 'none' for t would save about 1\.9 s of 10\.5 s: /);
  expect(adviceOf(measured(9, 80, 10), steps, specOf('none'), 10.5)).toHaveLength(1);
  const disturbed = measured(9, 80, 10, { machine: [{ ...machine, busy: 0.8 }] });
  expect(adviceOf(disturbed, steps, specOf('typed'), 10.5)).toHaveLength(1);
  // What a server on this machine used is unknown, if nobody looked at it.
  expect(adviceOf({ ...disturbed, server: [] }, steps, specOf('typed'), 10.5)).toHaveLength(2);
});

describe('where the declaration refuses it, leaving out staging is not advised:', () => {
  it.each([
    ['append', { publish: 'append' }],
    ['merge', { publish: 'merge' }],
    ['history', { publish: 'history' }],
    ['partitions', { partitionBy: hash('a', 2) }],
    ['touched partitions', { partitionBy: list('a'), publish: { mode: 'replace', only: 'touched' } }],
  ])('%s', (_, change) => {
    expect(() => specOf('none', change)).toThrow('remove staging');
    const spec = specOf('typed', change);
    const advised = adviceOf(measured(9, 80, 10), steps, spec, 10.5);
    expect(advised).toHaveLength(1);
    expect(directAdvice(spec, adviceOf(measured(9, 80, 10), steps, specOf('typed'), 10.5))).toBeUndefined();
  });
});

it('where the declaration allows it, what an earlier run has said is found', () => {
  const advised = adviceOf(measured(9, 80, 10), steps, specOf('typed'), 10.5);
  expect(directAdvice(specOf('typed'), advised)).toBe(advised.at(-1));
  expect(directAdvice(specOf('none'), advised)).toBeUndefined();
});

it('of a run that mostly waited only that is said', () =>
  expect(
    adviceOf(measured(9, 80, 10), [...steps, { step: 'wait', seconds: 15 }], specOf('typed'), 25),
  ).toEqual([
    expect.stringMatching(/^Waiting is the limit: 15\.0 s of 25\.0 s passed in hooks, or in waiting/),
  ]));
