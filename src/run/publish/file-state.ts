// Records which files are in production of which table, in the publishing transaction.

import {
  forgetAllFiles,
  forgetFiles,
  forgetStale,
  insertPublishedFiles,
  replaceRows,
  supersedeFiles,
  unloadFiles,
} from '../../ledger/production/published-files.ts';
import { runQuery } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import type { Extent } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { plural } from '../../core/wording.ts';
import type { Work } from '../context.ts';

const recordOutgoing = async ({ client, spec }: Work, parts: readonly BuiltTable[]): Promise<void> => {
  const unloaded = parts.flatMap(({ outgoing }) => outgoing.unloaded);
  const kept = new Set(unloaded);
  const forgotten = parts.flatMap(({ outgoing }) => outgoing.files).filter((id) => !kept.has(id));
  const found = new Map<string, number>();
  for (const [ids, change] of [
    [forgotten, forgetFiles],
    [unloaded, unloadFiles],
    [parts.flatMap(({ outgoing }) => outgoing.superseded ?? []), supersedeFiles],
  ] as const) {
    if (ids.length === 0) continue;
    const { rows } = await runQuery(client, change(spec.name, spec.schema, ids));
    for (const { table } of rows) found.set(table, (found.get(table) ?? 0) + 1);
  }
  for (const { table, outgoing } of parts) {
    const expected = outgoing.files.length + (outgoing.superseded?.length ?? 0);
    const had = found.get(table) ?? 0;
    if (had === expected) continue;
    const problem = `rows of ${plural(expected, 'file')} were to be deleted or superseded, and it had rows of ${had}`;
    throw new EtlError('ETL_INCOMPLETE', { table, problem });
  }
};

/**
 * Records the run's files: for a whole table they replace all others, otherwise they are added.
 * Errors: ETL_INCOMPLETE if others have changed the records.
 */
export const recordFiles = async (
  context: Work,
  runId: number,
  plans: readonly PublishPlan[],
): Promise<void> => {
  const { client, spec } = context;
  const sources = new Set(spec.tables.filter(({ kind }) => kind === 'source').map(({ name }) => name));
  const tables = plans.map(({ table }) => table).filter(({ table }) => sources.has(table));
  const namesOf = (extent: Extent): readonly string[] =>
    tables.filter((one) => one.extent === extent).map(({ table }) => table);
  const exchange = async (): Promise<void> => {
    await recordOutgoing(
      context,
      tables.filter(({ extent }) => extent === 'part'),
    );
    for (const { table, touched, outgoing } of tables) {
      if (touched !== undefined && touched.leaving.length > 0)
        await runQuery(client, replaceRows(spec.schema, table, touched.leaving));
      if (outgoing.stale !== undefined)
        await runQuery(client, forgetStale(spec.schema, table, outgoing.stale));
    }
    const names = tables.map(({ table }) => table);
    await runQuery(client, insertPublishedFiles(runId, spec.schema, names));
  };
  await askTogether(client, () => [
    runQuery(client, forgetAllFiles(spec.schema, namesOf('whole'))),
    exchange(),
  ]);
};
