// Server settings for bulk loading, each with a rule and advice (docs/operations/server.md). What a
// run sets in its own sessions is in src/db/session/session-settings.ts.

import type { ServerFacts, settingNames, SettingValue } from '../db/session/facts.ts';

interface SettingRule {
  readonly name: (typeof settingNames)[number];
  readonly isFine: (value: SettingValue, facts: ServerFacts) => boolean;
  readonly advice: string;
}

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

const isOn = ({ text }: SettingValue): boolean => text === 'on';
const atLeast =
  (least: number) =>
  ({ number }: SettingValue): boolean =>
    (number ?? 0) >= least;

export const settingRules: readonly SettingRule[] = [
  {
    name: 'wal_level',
    isFine: ({ text }, { logIsUsed }) => text === 'minimal' || logIsUsed,
    advice:
      'set wal_level = minimal and max_wal_senders = 0 if no standby and no backup needs the log: ' +
      'new production tables and their indexes then skip it',
  },
  {
    name: 'fsync',
    isFine: isOn,
    advice:
      'set fsync = on: without it a power failure corrupts published tables, and unlogged staging gains nothing',
  },
  {
    name: 'full_page_writes',
    isFine: isOn,
    advice:
      'set full_page_writes = on: without it a power failure tears pages, unless the file system is ZFS',
  },
  {
    name: 'max_wal_size',
    // A build writes as much WAL as the table: 1GB would force a checkpoint every few seconds.
    isFine: atLeast(4 * GiB),
    advice:
      'set max_wal_size = 4GB: a build writes gigabytes of log, and at less each few seconds force a checkpoint',
  },
  {
    name: 'checkpoint_timeout',
    isFine: atLeast(15 * 60),
    advice:
      'set checkpoint_timeout = 15min: every checkpoint makes the next change of each page cost 8 kB of log',
  },
  {
    name: 'shared_buffers',
    // Twice the default. Small servers do not have more memory to spare.
    isFine: atLeast(256 * MiB),
    advice:
      'set shared_buffers to a quarter of the memory, 256MB at least: pages are written once, not twice',
  },
  {
    name: 'max_parallel_maintenance_workers',
    // 1 is best on two cores, since the session itself works, too.
    isFine: atLeast(1),
    advice:
      'set max_parallel_maintenance_workers to the number of cores less one: indexes are built by several processes',
  },
];
