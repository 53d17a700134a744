// Refuses a run that would bring back rows that a rollback took out of production.

import { versionKey, withdrawnBy } from '../../ledger/production/kept.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { firstOf } from '../../core/wording.ts';
import type { OutsetContext } from '../context.ts';
import type { PlannedTable } from '../files/planned-table.ts';

/** Maximum number of files that the error names. */
const filesShown = 5;

/**
 * Refuses files that only the rolled-back run had, if neither the files nor the definition have
 * changed since. If the rolled-back run had no such files, only the definition is compared. Errors:
 * ETL_ROLLED_BACK.
 */
export const refuseWithdrawn = async (
  { client, spec, hashes }: Pick<OutsetContext, 'client' | 'spec' | 'hashes'>,
  planned: readonly PlannedTable[],
): Promise<void> => {
  const withdrawn = await withdrawnBy(client, spec.name);
  if (withdrawn === undefined || withdrawn.definitionHash !== hashes.definition) return;
  const { run, undone, files } = withdrawn;
  const listed = new Set(
    planned.flatMap(({ table, files: listedFiles }) =>
      listedFiles.map((file) => versionKey(table.name, file)),
    ),
  );
  const again = files.filter(({ key }) => listed.has(key)).map(({ name }) => name);
  if (files.length > 0 && again.length === 0) return;
  const problem =
    again.length === 0
      ? 'its definition is the same'
      : `${firstOf(again, filesShown).join(', ')}: unchanged since`;
  throw new EtlError('ETL_ROLLED_BACK', { pipeline: spec.name, run, undone, problem });
};
