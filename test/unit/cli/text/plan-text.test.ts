// The lines of `etl plan` from a plan: what is known without a server, who is notified, and tables to which nothing happens.

import { expect, it } from 'vitest';
import type { Paint } from '../../../../src/cli/paint.ts';
import { planLines } from '../../../../src/cli/text/plan-text.ts';
import type { RunPlan } from '../../../../src/run/plan/contract.ts';

const plain: Paint = (_, text) => text;
const none = { count: 0, names: [] };

const plan = (part: Partial<RunPlan>): RunPlan => ({
  pipeline: 'shop',
  outcome: 'load',
  run: null,
  why: [],
  refusal: null,
  prepared: false,
  notices: [],
  tables: [
    {
      table: 'sale',
      schema: 'shop',
      kind: 'source',
      mode: 'replace',
      extent: 'whole',
      files: {
        listed: 2,
        loaded: part.outcome === 'nothing' ? 0 : 2,
        bytes: part.outcome === 'nothing' ? 0 : 1_500,
        added: none,
        changed: none,
        again: none,
        unloaded: none,
        gone: none,
        unchanged: 2,
        goneRows: 'leave',
      },
      steps: [{ step: 'indexes', text: 'none' }],
      publishing: null,
    },
  ],
  hooks: [],
  receivers: [],
  room: { needed: null, free: null },
  seconds: null,
  ...part,
});

it.each([
  [
    'without a server, of room and time nothing',
    plan({ receivers: [{ channel: 'webhook', receiver: 'HOOK', on: ['failed', 'late'] }] }),
    [
      'shop.sale',
      '  files    all of 2 files to load, 1.5 kB; 2 as in production',
      '  indexes  none',
      '  publish  replace',
      '',
      'Everything would be loaded.',
      '  nothing was prepared on the server',
      '  notified: webhook HOOK (failed, late)',
      '  room: unknown before the first run',
      '  time: unknown before the first run',
    ],
  ],
  [
    'with nothing to do, of tables only their files',
    plan({ outcome: 'nothing', run: 7, notices: ['HOOK is not set'] }),
    [
      'shop.sale',
      '  files  none of 2 files to load; 2 as in production',
      '',
      'Nothing to do: files and definition are the same as in run 7; --full-refresh',
      'loads everything again.',
      '  HOOK is not set',
    ],
  ],
  [
    'a disk without room, and a bookkeeping of an earlier version',
    plan({ outcome: 'unknown', tables: [], room: { needed: 2_000_000, free: 1_000 } }),
    [
      '',
      'It is unknown whether there is anything to do.',
      '  nothing was prepared on the server',
      "  room: about 2.0 MB on the server's disk while it publishes; 1.0 kB are free",
      '  time: unknown',
    ],
  ],
])('%s', (_, given, lines) => expect(planLines(given, 80, plain)).toEqual(lines));
