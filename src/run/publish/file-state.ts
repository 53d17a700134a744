// Records which files are in production of which table, in the publishing transaction.

import {
  forgetAllFiles,
  forgetFiles,
  insertPublishedFiles,
  unloadFiles,
} from '../../checkpoint/published-files.ts';
import { runQuery } from '../../db/client.ts';
import { EtlError } from '../../errors.ts';
import type { PublishPlan } from '../../publish/contract.ts';
import { plural } from '../../wording.ts';
import type { RunContext } from '../context.ts';

/** Files of a whole table are those of the run alone; those of a part come beside the others. */
const recordTable = async ({ client, spec }: RunContext, runId: number, plan: PublishPlan): Promise<void> => {
  const { schema, table, extent, outgoing } = plan.table;
  const { files, unloaded } = outgoing;
  if (extent === 'whole') await runQuery(client, forgetAllFiles(schema, table));
  else if (files.length > 0) {
    const of = { pipeline: spec.name, schema, table };
    const kept = new Set(unloaded);
    const forgotten = files.filter((id) => !kept.has(id));
    const known = await runQuery(client, forgetFiles(of, forgotten));
    const marked = await runQuery(client, unloadFiles(of, unloaded));
    const found = (known.rowCount ?? 0) + (marked.rowCount ?? 0);
    if (found !== files.length) {
      const problem = `${plural(files.length, 'file')} were to leave it, and it had ${found} of them`;
      throw new EtlError('ETL_INCOMPLETE', { table, problem });
    }
  }
  await runQuery(client, insertPublishedFiles(runId, schema, table));
};

/** Records the files of all tables that have any. Errors: ETL_INCOMPLETE when they were recorded by somebody else. */
export const recordFiles = async (
  context: RunContext,
  runId: number,
  plans: readonly PublishPlan[],
): Promise<void> => {
  const { tables } = context.spec;
  for (const plan of plans)
    if (tables.some(({ name, kind }) => name === plan.table.table && kind === 'source'))
      await recordTable(context, runId, plan);
};
