// Drops old versions of tables if there are more than `keep`, and reports the space of the others.

import { formatBytes } from '../../core/amounts.ts';
import { forgetKept, type KeptTable } from '../../ledger/production/kept.ts';
import { runQuery, withTransaction, type Client } from '../../db/client.ts';
import { codeOf } from '../../core/errors/errors.ts';
import type { RunContext } from '../context.ts';

/** Drops a kept version. Fails if other sessions read it for longer than `lockMs`. */
export const dropVersion = (client: Client, { id, location }: KeptTable, lockMs: number): Promise<void> =>
  withTransaction(client, async () => {
    await client.query(`set local lock_timeout = ${lockMs}`);
    await client.query(`drop table ${location}`);
    await runQuery(client, forgetKept([id]));
  });

/** How long to wait for a reader at the end of a run; the next run tries again. */
const dropLockMs = 2_000;

const drop = ({ client, report }: RunContext, version: KeptTable): Promise<void> =>
  dropVersion(client, version, dropLockMs).catch((error: unknown) => {
    if (codeOf(error) !== '55P03') throw error;
    const problem = `${version.location} is in use and could not be dropped; the next run tries again`;
    report.logger.warn({ error }, problem);
  });

/** Drops versions beyond `keep`, but none of a table that is no longer declared. */
export const dropOldVersions = async (context: RunContext, kept: readonly KeptTable[]): Promise<void> => {
  const { spec, report } = context;
  if (kept.length === 0) return;
  const of = (name: string) => kept.filter(({ table }) => table === name);
  for (const { name, keep = 0 } of spec.tables)
    for (const version of of(name).slice(keep)) await drop(context, version);
  const texts = spec.tables.flatMap(({ name, keep = 0 }) => {
    const staying = of(name).slice(0, keep);
    const bytes = staying.reduce((sum, version) => sum + version.bytes, 0);
    const runs = staying.map(({ run }) => run).join(', ');
    return staying.length === 0 ? [] : [`${spec.schema}.${name} as of run ${runs} (${formatBytes(bytes)})`];
  });
  if (texts.length > 0)
    report.emit({ type: 'notice', message: `kept for etl rollback: ${texts.join('; ')}` });
};
