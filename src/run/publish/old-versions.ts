// Drops versions of tables beyond `keep`, and reports how much space the others take.

import { formatBytes } from '../../amounts.ts';
import { forgetKept, keptTables, type KeptTable } from '../../checkpoint/kept.ts';
import { runQuery, withTransaction } from '../../db/client.ts';
import { codeOf } from '../../errors.ts';
import type { RunContext } from '../context.ts';

/** Somebody may be reading an old version; the next run tries again. */
const dropLockMs = 2_000;

const drop = ({ client, report }: RunContext, { id, location }: KeptTable): Promise<void> =>
  withTransaction(client, async () => {
    await client.query(`set local lock_timeout = ${dropLockMs}`);
    await client.query(`drop table ${location}`);
    await runQuery(client, forgetKept([id]));
  }).catch((error: unknown) => {
    if (codeOf(error) !== '55P03') throw error;
    report.logger.warn({ error }, `${location} is in use and could not be dropped; the next run tries again`);
  });

/** Of each table the newest versions stay, as many as it keeps; tables that are no longer declared keep theirs. */
export const dropOldVersions = async (context: RunContext): Promise<void> => {
  const { client, spec, report } = context;
  const kept = await keptTables(client, spec.name);
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
