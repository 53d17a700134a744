// Settings of the embedded PostgreSQL: fast bulk loading, full durability.

import { availableParallelism } from 'node:os';
import { embeddedIndexHelpersMax } from '../../core/limits.ts';
import { host } from './port.ts';

export const settingsName = 'sluice.conf';

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly why: string;
}

const bulkLoading: readonly Setting[] = [
  { name: 'listen_addresses', value: host, why: 'this machine only' },
  { name: 'unix_socket_directories', value: '', why: 'TCP only, the same on every system' },
  { name: 'cluster_name', value: 'sluice', why: 'shown in the list of processes' },
  { name: 'max_connections', value: '100', why: 'workers, queue and a few tools' },
  { name: 'wal_level', value: 'minimal', why: 'filling a table made in the same transaction skips the log' },
  {
    name: 'max_wal_senders',
    value: '0',
    why: 'wal_level = minimal requires it; nobody replicates from here',
  },
  { name: 'max_wal_size', value: '4GB', why: 'a load should not be slowed down by checkpoints' },
  { name: 'checkpoint_timeout', value: '15min', why: 'as above' },
  {
    name: 'shared_buffers',
    value: '256MB',
    why: 'twice the default, and still small beside an editor and a browser',
  },
  { name: 'maintenance_work_mem', value: '256MB', why: 'sorting for indexes' },
  {
    name: 'max_parallel_maintenance_workers',
    value: String(Math.min(Math.max(availableParallelism() - 1, 1), embeddedIndexHelpersMax)),
    why: 'they sort beside the session: no more processes than cores',
  },
  {
    name: 'search_path',
    value: 'public',
    why: 'the user is named etl, so "$user" would be the schema of the bookkeeping',
  },
  { name: 'jit', value: 'off', why: 'the programs are built without it' },
];

const line = (name: string, value: string): string => `${name} = '${value.replaceAll("'", "''")}'`;

export const settingsText = (port: number, extra: Readonly<Record<string, string>> = {}): string =>
  [
    '# Written by sluice at every start; changes here are lost. Use `alter system set ...` for your own:',
    '# it wins over this file. fsync and full_page_writes stay on: a crash loses nothing that was committed.',
    line('port', String(port)),
    ...bulkLoading.flatMap(({ name, value, why }) => [`# ${why}`, line(name, value)]),
    ...Object.entries(extra).map(([name, value]) => line(name, value)),
    '',
  ].join('\n');
