// The findings and advice of `etl doctor`, and how they are printed.

import { describe, expect, it } from 'vitest';
import { findingLines } from '../../../src/cli/commands/doctor.ts';
import type { Paint } from '../../../src/cli/paint.ts';
import { findingsOf, settingBytes, type Finding } from '../../../src/tools/doctor.ts';
import type { Demand, ServerFacts, SettingValue } from '../../../src/db/session/facts.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

const word = (text: string): SettingValue => ({ text, number: null });
const amount = (text: string, number: number): SettingValue => ({ text, number });

const epoch = '00000000-0000-4000-8000-000000000001';
const startedAt = new Date('2026-03-01T09:05:00Z');

/** A server without problems. */
const fit: ServerFacts = {
  isPooled: false,
  access: {
    version: '17.2',
    versionNumber: 170_002,
    isStandby: false,
    isReadOnly: false,
    user: 'loader',
    database: 'weather',
    encoding: 'UTF8',
    missing: [],
    cures: [],
  },
  isSuperuser: false,
  settings: {
    wal_level: word('minimal'),
    fsync: word('on'),
    full_page_writes: word('on'),
    max_wal_size: amount('4GB', 4 * GiB),
    checkpoint_timeout: amount('15min', 900),
    shared_buffers: amount('256MB', 256 * MiB),
    max_parallel_maintenance_workers: amount('2', 2),
  },
  logIsUsed: false,
  connectionLimits: [{ name: 'max_connections', limit: 97, used: 3 }],
  databaseBytes: 10 * GiB,
  freeBytes: 100 * GiB,
  startedAt,
  checkpointerStartedAt: new Date(startedAt.getTime() + 20),
  staging: [],
  trust: { foreign: [], strange: [], foreignOfPipelines: [] },
  bookkeeping: {
    found: 1,
    known: 1,
    crashes: { epoch, lost: [], crashesSeen: 0, lastSeenBy: null },
    stale: [],
  },
};

const access = (part: Partial<ServerFacts['access']>): Partial<ServerFacts> => ({
  access: { ...fit.access, ...part },
});
const setting = (name: string, value: SettingValue): Partial<ServerFacts> => ({
  settings: { ...fit.settings, [name]: value },
});
const crashes = (part: object): Partial<ServerFacts> => ({
  bookkeeping: {
    found: 1,
    known: 1,
    crashes: { epoch, lost: [], crashesSeen: 0, lastSeenBy: null, ...part },
    stale: [],
  },
});
const staged = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ name: `noaa__t${place}`, bytes: MiB }));

const inPostgres = { databaseConnectionsMax: 6 };
const inRedis = { databaseConnectionsMax: 0 };

/** A finding, the facts and demand that differ from a fit server's, and a part of its advice. */
type Row = [finding: string, facts: Partial<ServerFacts & Demand>, advice?: string];

const rows: readonly Row[] = [
  ['ok: pooler: in session mode', { isPooled: true }],
  [
    'problem: server: PostgreSQL 13.20',
    access({ version: '13.20', versionNumber: 130_020 }),
    'PostgreSQL 14 or later',
  ],
  ['problem: role: standby', access({ isStandby: true, isReadOnly: true }), 'connect to the primary'],
  ['ok: user: loader', access({ isStandby: true, isReadOnly: true })],
  [
    'problem: user: loader, read-only',
    access({ isReadOnly: true }),
    'alter role loader in database weather set default_transaction_read_only = off',
  ],
  [
    'problem: user: loader',
    access({ missing: ['create schema etl in database weather', 'use schema noaa'] }),
    'may not create schema etl in database weather; use schema noaa',
  ],
  [
    'problem: max_connections: limit 97, 3 in use, 98 needed for --workers 91',
    { workers: 91 },
    'raise it by 4 or load with --workers 87',
  ],
  [
    'advice: max_connections: limit 97, 3 in use, 95 needed for --workers 88',
    { workers: 88 },
    'raise it by 1 or load with --workers 87',
  ],
  ['ok: max_connections: limit 97, 3 in use, 94 needed for --workers 87', { workers: 87 }],
  ['ok: max_connections: limit 97, 3 in use, 94 needed for --workers 93', { workers: 93, backend: inRedis }],
  [
    'advice: max_connections: limit 97, 3 in use, 95 needed for --workers 94',
    { workers: 94, backend: inRedis },
    'raise it by 1 or load with --workers 93',
  ],
  [
    'problem: connection limit of loader: limit 5, 0 in use, 8 needed for --workers 1',
    {
      workers: 1,
      connectionLimits: [...fit.connectionLimits, { name: 'connection limit of loader', limit: 5, used: 0 }],
    },
    'raise it by 3: ',
  ],
  [
    'advice: wal_level: replica',
    setting('wal_level', word('replica')),
    'wal_level = minimal and max_wal_senders = 0',
  ],
  ['ok: wal_level: replica', { ...setting('wal_level', word('replica')), logIsUsed: true }],
  ['advice: fsync: off', setting('fsync', word('off')), 'set fsync = on'],
  ['advice: full_page_writes: off', setting('full_page_writes', word('off')), 'set full_page_writes = on'],
  ['advice: max_wal_size: 1GB', setting('max_wal_size', amount('1GB', GiB)), 'set max_wal_size = 4GB'],
  [
    'advice: checkpoint_timeout: 5min',
    setting('checkpoint_timeout', amount('5min', 300)),
    'set checkpoint_timeout = 15min',
  ],
  ['advice: shared_buffers: 128MB', setting('shared_buffers', amount('128MB', 128 * MiB)), '256MB at least'],
  [
    'advice: max_parallel_maintenance_workers: 0',
    setting('max_parallel_maintenance_workers', amount('0', 0)),
    'the number of cores less one',
  ],
  ['ok: free disk: unknown: it can only be read on the server’s machine', { freeBytes: undefined }],
  ['advice: free disk: 20GB', { freeBytes: 20 * GiB - 1 }, 'free some space'],
  ['ok: bookkeeping schema: none yet: the first run creates it', { bookkeeping: undefined }],
  [
    'ok: bookkeeping schema: cannot be read by this user',
    { ...access({ missing: ['use schema etl'] }), bookkeeping: undefined },
  ],
  [
    'ok: bookkeeping schema: version 1; the next run upgrades it to 3',
    { bookkeeping: { ...fit.bookkeeping!, known: 3 } },
  ],
  [
    'problem: bookkeeping schema: version 2',
    { bookkeeping: { ...fit.bookkeeping!, found: 2 } },
    'upgrade sluice',
  ],
  [
    'problem: owners: schema etl belongs to mallory',
    { trust: { foreign: ['schema etl belongs to mallory'], strange: [], foreignOfPipelines: [] } },
    'a run of this user would be refused',
  ],
  [
    'problem: created by others: etl.run is not a plain table',
    { trust: { foreign: [], strange: ['etl.run is not a plain table'], foreignOfPipelines: [] } },
    'a run would be refused',
  ],
  [`ok: crash epoch: ${epoch}`, {}],
  [
    'advice: crash epoch: none yet: unlogged tables were emptied, or never filled',
    crashes({ epoch: null, lost: [{ run: 12, pipeline: 'noaa' }] }),
    'run the pipeline again to continue run 12 (noaa)',
  ],
  [
    'ok: crash epoch: unknown: a standby does not show it',
    { bookkeeping: { found: 1, known: 1, crashes: undefined, stale: [] } },
  ],
  ['ok: crashes seen by runs: 3, the last by run 12', crashes({ crashesSeen: 3, lastSeenBy: 12 })],
  ['ok: unlogged staging: 1 table, 1MB: noaa__t0 1MB', { staging: staged(1) }],
  [
    'ok: unlogged staging: 7 tables, 7MB: noaa__t0 1MB, noaa__t1 1MB, noaa__t2 1MB, noaa__t3 1MB, noaa__t4 1MB, and 2 more',
    { staging: staged(7) },
  ],
  [
    'advice: up since: 2026-03-01 09:05:00 UTC, recovered from a crash at 2026-03-01 11:00:07 UTC',
    { checkpointerStartedAt: new Date('2026-03-01T11:00:07Z') },
    'check the server’s log',
  ],
  ['ok: up since: 2026-03-01 09:05:00 UTC', { checkpointerStartedAt: null }],
];

describe('findings', () => {
  it('a fit server: all ok, and no advice', () => {
    const findings = findingsOf(fit, { workers: 4, backend: inPostgres });
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(findings.filter(({ advice }) => advice !== undefined)).toEqual([]);
  });

  it.each(rows)('%s', (expected, { workers = 4, backend = inPostgres, ...facts }, part) => {
    const findings = findingsOf({ ...fit, ...facts }, { workers, backend });
    const lines = findings.map(({ verdict, name, value }) => `${verdict}: ${name}: ${value}`);
    expect(lines).toContain(expected);
    const { advice, verdict } = findings[lines.indexOf(expected)]!;
    expect(advice ?? '').toContain(part ?? '');
    expect(advice === undefined).toBe(verdict === 'ok');
  });
});

it.each([
  [0, '0B'],
  [1023, '1023B'],
  [1536, '1.5kB'],
  [256 * MiB, '256MB'],
  [4 * GiB, '4GB'],
  [9.94 * GiB, '9.9GB'],
  [10.4 * GiB, '10GB'],
  [3 * 1024 * GiB, '3TB'],
])('%d bytes are written as %s', (bytes, text) => expect(settingBytes(bytes)).toBe(text));

describe('the report', () => {
  const plain: Paint = (_, text) => text;
  const findings: readonly Finding[] = [
    { name: 'server', value: 'PostgreSQL 17.2', verdict: 'ok' },
    { name: 'max_wal_size', value: '1GB', verdict: 'advice', advice: 'set max_wal_size = 4GB' },
  ];

  it('aligns names and values, and puts advice under its line', () =>
    expect(findingLines(findings, plain)).toEqual([
      'ok      server        PostgreSQL 17.2',
      'advice  max_wal_size  1GB',
      '        set max_wal_size = 4GB',
      '',
      '0 problems, 1 piece of advice',
    ]));

  it('colours the verdict', () =>
    expect(findingLines(findings, (style, text) => `<${style}>${text}`)[1]).toMatch(/^<yellow>advice /));

  it('shows control characters of names that others chose', () => {
    const odd: Finding = { name: 'user', value: 'a\u001b[2Jb', verdict: 'ok' };
    expect(findingLines([odd], plain)[0]).toBe('ok  user  a\\u001b[2Jb');
  });
});
