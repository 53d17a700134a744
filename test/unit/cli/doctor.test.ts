// What `etl doctor` makes of a server's facts, and how it prints that.

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

/** A server on which there is nothing to find. */
const fit: ServerFacts = {
  pooling: 'direct',
  access: {
    version: '17.2',
    versionNumber: 170_002,
    isStandby: false,
    isReadOnly: false,
    user: 'loader',
    database: 'weather',
    encoding: 'UTF8',
    missing: [],
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

const changed = (facts: Partial<ServerFacts>, demand: Demand, name: string): Finding =>
  findingsOf({ ...fit, ...facts }, demand).find((finding) => finding.name === name)!;

interface Row {
  readonly title: string;
  readonly facts: Partial<ServerFacts>;
  readonly workers?: number;
  readonly backend?: Demand['backend'];
  readonly name: string;
  readonly value: string;
  readonly verdict: Finding['verdict'];
  readonly advice?: string;
}

const rows: readonly Row[] = [
  {
    title: 'a pooler in session mode',
    facts: { pooling: 'session' },
    name: 'pooler',
    value: 'in session mode',
    verdict: 'ok',
  },
  {
    title: 'a pooler in another mode',
    facts: { pooling: 'shared' },
    name: 'pooler',
    value: 'shares a session among clients',
    verdict: 'problem',
    advice: 'pool_mode = session',
  },
  {
    title: 'a server that is too old',
    facts: access({ version: '13.20', versionNumber: 130_020 }),
    name: 'server',
    value: 'PostgreSQL 13.20',
    verdict: 'problem',
    advice: 'PostgreSQL 14 or later',
  },
  {
    title: 'a standby',
    facts: access({ isStandby: true, isReadOnly: true }),
    name: 'role',
    value: 'standby',
    verdict: 'problem',
    advice: 'connect to the primary',
  },
  {
    title: 'the user of a standby is not blamed for it',
    facts: access({ isStandby: true, isReadOnly: true }),
    name: 'user',
    value: 'loader',
    verdict: 'ok',
  },
  {
    title: 'a user with read-only transactions',
    facts: access({ isReadOnly: true }),
    name: 'user',
    value: 'loader, read-only',
    verdict: 'problem',
    advice: 'alter role loader in database weather set default_transaction_read_only = off',
  },
  {
    title: 'a user who lacks privileges',
    facts: access({ missing: ['create schema etl in database weather', 'use schema noaa'] }),
    name: 'user',
    value: 'loader',
    verdict: 'problem',
    advice: 'may not create schema etl in database weather; use schema noaa',
  },
  {
    title: 'more workers than the server has connections',
    facts: {},
    workers: 91,
    name: 'max_connections',
    value: 'limit 97, 3 in use, 98 needed for --workers 91',
    verdict: 'problem',
    advice: 'raise it by 4 or load with --workers 87',
  },
  {
    title: 'more workers than there are connections left',
    facts: {},
    workers: 88,
    name: 'max_connections',
    value: 'limit 97, 3 in use, 95 needed for --workers 88',
    verdict: 'advice',
    advice: 'raise it by 1 or load with --workers 87',
  },
  {
    title: 'just enough connections',
    facts: {},
    workers: 87,
    name: 'max_connections',
    value: 'limit 97, 3 in use, 94 needed for --workers 87',
    verdict: 'ok',
  },
  {
    title: 'as many workers, whose queue is in Redis and takes none',
    facts: {},
    workers: 93,
    backend: inRedis,
    name: 'max_connections',
    value: 'limit 97, 3 in use, 94 needed for --workers 93',
    verdict: 'ok',
  },
  {
    title: 'one worker more than that',
    facts: {},
    workers: 94,
    backend: inRedis,
    name: 'max_connections',
    value: 'limit 97, 3 in use, 95 needed for --workers 94',
    verdict: 'advice',
    advice: 'raise it by 1 or load with --workers 93',
  },
  {
    title: 'a limit of the user below what even one worker needs',
    facts: {
      connectionLimits: [...fit.connectionLimits, { name: 'connection limit of loader', limit: 5, used: 0 }],
    },
    workers: 1,
    name: 'connection limit of loader',
    value: 'limit 5, 0 in use, 8 needed for --workers 1',
    verdict: 'problem',
    advice: 'raise it by 3: ',
  },
  {
    title: 'a log that nobody reads',
    facts: setting('wal_level', word('replica')),
    name: 'wal_level',
    value: 'replica',
    verdict: 'advice',
    advice: 'wal_level = minimal and max_wal_senders = 0',
  },
  {
    title: 'a log that a standby or an archive reads',
    facts: { ...setting('wal_level', word('replica')), logIsUsed: true },
    name: 'wal_level',
    value: 'replica',
    verdict: 'ok',
  },
  {
    title: 'a server that never flushes',
    facts: setting('fsync', word('off')),
    name: 'fsync',
    value: 'off',
    verdict: 'advice',
    advice: 'set fsync = on',
  },
  {
    title: 'torn pages',
    facts: setting('full_page_writes', word('off')),
    name: 'full_page_writes',
    value: 'off',
    verdict: 'advice',
    advice: 'set full_page_writes = on',
  },
  {
    title: 'the default of max_wal_size',
    facts: setting('max_wal_size', amount('1GB', GiB)),
    name: 'max_wal_size',
    value: '1GB',
    verdict: 'advice',
    advice: 'set max_wal_size = 4GB',
  },
  {
    title: 'the default of checkpoint_timeout',
    facts: setting('checkpoint_timeout', amount('5min', 300)),
    name: 'checkpoint_timeout',
    value: '5min',
    verdict: 'advice',
    advice: 'set checkpoint_timeout = 15min',
  },
  {
    title: 'the default of shared_buffers',
    facts: setting('shared_buffers', amount('128MB', 128 * MiB)),
    name: 'shared_buffers',
    value: '128MB',
    verdict: 'advice',
    advice: '256MB at least',
  },
  {
    title: 'index builds by one process',
    facts: setting('max_parallel_maintenance_workers', amount('0', 0)),
    name: 'max_parallel_maintenance_workers',
    value: '0',
    verdict: 'advice',
    advice: 'the number of cores less one',
  },
  {
    title: 'the disk of a server elsewhere',
    facts: { freeBytes: undefined },
    name: 'free disk',
    value: 'unknown: only known on the server’s machine',
    verdict: 'ok',
  },
  {
    title: 'a disk that does not hold the database three times',
    facts: { freeBytes: 20 * GiB - 1 },
    name: 'free disk',
    value: '20GB',
    verdict: 'advice',
    advice: 'free some space',
  },
  {
    title: 'a database without bookkeeping',
    facts: { bookkeeping: undefined },
    name: 'bookkeeping schema',
    value: 'none yet: the first run creates it',
    verdict: 'ok',
  },
  {
    title: 'bookkeeping that is closed to this user',
    facts: { ...access({ missing: ['use schema etl'] }), bookkeeping: undefined },
    name: 'bookkeeping schema',
    value: 'cannot be read by this user',
    verdict: 'ok',
  },
  {
    title: 'bookkeeping of an older version',
    facts: { bookkeeping: { ...fit.bookkeeping!, known: 3 } },
    name: 'bookkeeping schema',
    value: 'version 1; the next run upgrades it to 3',
    verdict: 'ok',
  },
  {
    title: 'bookkeeping of a newer version',
    facts: { bookkeeping: { ...fit.bookkeeping!, found: 2 } },
    name: 'bookkeeping schema',
    value: 'version 2',
    verdict: 'problem',
    advice: 'upgrade sluice',
  },
  {
    title: 'bookkeeping that a stranger made',
    facts: { trust: { foreign: ['schema etl belongs to mallory'], strange: [], foreignOfPipelines: [] } },
    name: 'owners',
    value: 'schema etl belongs to mallory',
    verdict: 'problem',
    advice: 'a run of this user would be refused',
  },
  {
    title: 'bookkeeping in which a view is in place of a table',
    facts: { trust: { foreign: [], strange: ['etl.run is not a plain table'], foreignOfPipelines: [] } },
    name: 'created by others',
    value: 'etl.run is not a plain table',
    verdict: 'problem',
    advice: 'a run would be refused',
  },
  {
    title: 'an epoch',
    facts: {},
    name: 'crash epoch',
    value: epoch,
    verdict: 'ok',
  },
  {
    title: 'an epoch that nobody has written since the crash',
    facts: crashes({ epoch: null, lost: [{ run: 12, pipeline: 'noaa' }] }),
    name: 'crash epoch',
    value: 'none yet: unlogged tables were emptied, or never filled',
    verdict: 'advice',
    advice: 'run the pipeline again to continue run 12 (noaa)',
  },
  {
    title: 'an epoch on a standby',
    facts: { bookkeeping: { found: 1, known: 1, crashes: undefined, stale: [] } },
    name: 'crash epoch',
    value: 'unknown: a standby does not show it',
    verdict: 'ok',
  },
  {
    title: 'crashes that runs have seen',
    facts: crashes({ crashesSeen: 3, lastSeenBy: 12 }),
    name: 'crashes seen by runs',
    value: '3, the last by run 12',
    verdict: 'ok',
  },
  {
    title: 'one staging table',
    facts: { staging: staged(1) },
    name: 'unlogged staging',
    value: '1 table, 1MB: noaa__t0 1MB',
    verdict: 'ok',
  },
  {
    title: 'many staging tables',
    facts: { staging: staged(7) },
    name: 'unlogged staging',
    value: '7 tables, 7MB: noaa__t0 1MB, noaa__t1 1MB, noaa__t2 1MB, noaa__t3 1MB, noaa__t4 1MB, and 2 more',
    verdict: 'ok',
  },
  {
    title: 'a server that has recovered from a crash by itself',
    facts: { checkpointerStartedAt: new Date('2026-03-01T11:00:07Z') },
    name: 'up since',
    value: '2026-03-01 09:05:00 UTC, recovered from a crash at 2026-03-01 11:00:07 UTC',
    verdict: 'advice',
    advice: 'check the server’s log',
  },
  {
    title: 'a user who may not see when the checkpointer started',
    facts: { checkpointerStartedAt: null },
    name: 'up since',
    value: '2026-03-01 09:05:00 UTC',
    verdict: 'ok',
  },
];

describe('findings', () => {
  it('a fit server: all ok, and no advice', () => {
    const findings = findingsOf(fit, { workers: 4, backend: inPostgres });
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(findings.filter(({ advice }) => advice !== undefined)).toEqual([]);
  });

  it.each(rows)('$title', ({ facts, workers = 4, backend = inPostgres, name, value, verdict, advice }) => {
    const finding = changed(facts, { workers, backend }, name);
    expect({ value: finding.value, verdict: finding.verdict }).toEqual({ value, verdict });
    expect(finding.advice ?? '').toContain(advice ?? '');
    expect(finding.advice === undefined).toBe(verdict === 'ok');
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
