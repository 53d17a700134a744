// Checks, when a run publishes, that what it found while planning and building still holds.
//
// Other pipelines may fill the same tables, and people may write to them. So everything is looked
// up again in the publishing transaction, under locks that prevent further changes:
//
//   the table was empty or missing, and has rows       the tables are built again, to add the rows
//                                                      of the run to the existing rows
//   rows were to be replaced, and other rows came      refused: ETL_ROWS_LOST
//   rows were to be kept, and are gone                 refused: ETL_PUBLISH_OVERTAKEN; the next run
//                                                      loads more files
//   another pipeline has published the same file       refused: ETL_FILE_TWICE
//   tables were built or tested with production rows,
//   and another run has published since                the tables are built again
//
// Proved by test/modes/several-pipelines.test.ts and test/fault/several-pipelines.test.ts.

import { ownFilesOf, type FilesOf } from '../../ledger/production/published-files.ts';
import { publicationsOf } from '../../ledger/production/published-tables.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { hasOthers } from '../files/needed-files.ts';
import { refuseCopies } from '../files/copies.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { Basis, Intake } from '../files/sieve.ts';
import { isOtherExtent } from '../build/bringing.ts';
import type { RunContext, Work } from '../context.ts';
import { refuseLoss } from '../files/refuse-loss.ts';

/** Thrown if the tables have to be built again. The loaded rows are used again. */
export class Overtaken extends Error {
  readonly what: string;
  readonly planned: readonly PlannedTable[];

  constructor(what: string, problem: string, planned: readonly PlannedTable[]) {
    super(problem);
    this.what = what;
    this.planned = planned;
  }
}

/**
 * Returns true if writers have to wait from the start of the transaction: the new table contains
 * rows of the old one, or may replace it only if nobody adds rows.
 */
export const keepsWritersOut = ({ strategy, table, production }: PublishPlan): boolean =>
  strategy.holdsWriters === true ||
  (production !== undefined && table.extent === 'whole' && table.mode.takesParts);

/** Returns why the rows that were to be kept are gone; undefined: they exist. */
const whyMissing = async (
  { client }: Work,
  of: FilesOf,
  { own }: Basis,
  { isFilled, isPublished }: { readonly isFilled: boolean; readonly isPublished: boolean },
): Promise<string | undefined> => {
  if (!isFilled) return 'its rows were deleted';
  if (!isPublished || (await ownFilesOf(client, of)) === own) return undefined;
  return 'another pipeline replaced rows of files that this one had loaded';
};

/** Returns a changed plan: the run adds all its files to rows that others have added meanwhile. */
const besideOthers = ({ intake, ...planned }: PlannedTable, basis: Basis): PlannedTable => {
  const stays = meaningOf(planned.table.publish).replacesPartitions === true ? { stays: [] } : {};
  const outgoing: Intake['outgoing'] = { files: [], unloaded: [], ...stays, stale: basis.stale };
  return {
    ...planned,
    intake: { ...intake, extent: 'part', outgoing, basis: { ...basis, isFilledSince: true } },
  };
};

/** Returns a new plan if the run must now add to the table instead of replacing it. */
const confirmFiles = async (
  context: RunContext,
  planned: PlannedTable,
  publications: string,
): Promise<PlannedTable | undefined> => {
  const { client, spec } = context;
  const { table, intake } = planned;
  const { basis, extent } = intake;
  if (basis === undefined) return undefined;
  const of = { pipeline: spec.name, schema: spec.schema, table: table.name };
  if (basis.isFullRefresh) {
    await refuseLoss(context, table, of, basis);
    return undefined;
  }
  const isFilled = await hasOthers(client, of);
  if (extent === 'whole' && !isFilled) return undefined;
  const isPublished = basis.publications !== publications;
  // Of two pipelines that list the same file, under any name, only one loads it.
  if (isPublished && meaningOf(table.publish).refusesTwice === true)
    await refuseCopies(context, { ...planned, intake: { ...intake, extent: 'part' } });
  if (extent === 'whole') return besideOthers(planned, basis);
  if (basis.isFilledSince === true) return undefined;
  const problem = await whyMissing(context, of, basis, { isFilled, isPublished });
  if (problem !== undefined) throw new EtlError('ETL_PUBLISH_OVERTAKEN', { table: of.table, problem });
  return undefined;
};

/**
 * Returns tables that another run has published since they were built or tested; none if this run
 * does not depend on production's rows.
 */
const outdated = (
  { spec }: Work,
  built: readonly BuiltTable[],
  now: ReadonlyMap<string, string>,
): readonly BuiltTable[] => {
  const readsProduction =
    spec.tables.some(({ kind, tests = [] }) => kind === 'derived' || tests.length > 0) ||
    built.some(({ touched }) => touched !== undefined);
  return readsProduction ? built.filter(({ table, publications }) => now.get(table) !== publications) : [];
};

/**
 * Checks that the plan still holds. Called before rows are counted, and again in the publishing
 * transaction. Errors: Overtaken, ETL_ROWS_LOST, ETL_FILE_TWICE, ETL_PUBLISH_OVERTAKEN.
 */
export const confirmPlanned = async (
  context: RunContext,
  planned: readonly PlannedTable[],
  built: readonly BuiltTable[],
): Promise<void> => {
  const { client, spec } = context;
  const names = built.map(({ table }) => table);
  const now = await publicationsOf(client, spec.schema, names);
  const nameOf = (table: string): string => `${spec.schema}.${table}`;
  const filled: string[] = [];
  const brought: PlannedTable[] = [];
  for (const one of planned) {
    const other = await confirmFiles(context, one, now.get(one.table.name)!);
    if (other !== undefined) filled.push(nameOf(one.table.name));
    brought.push(other ?? one);
  }
  if (filled.length > 0) {
    const problem = `${filled.join(', ')} got rows after this run was planned, so the rows of the run are added to them, from what is loaded already`;
    throw new Overtaken(`rows of ${filled.join(', ')}`, problem, brought);
  }
  const all = new Map(built.map((one) => [one.table, one]));
  const others = outdated(context, built, now).map(({ table }) => table);
  for (const table of spec.tables)
    if (table.kind === 'derived' && (await isOtherExtent(context, table, all))) others.push(table.name);
  if (others.length === 0) return;
  const list = [...new Set(others)].map(nameOf).join(', ');
  const problem = `rows of ${list} changed while the tables of this run were built; the tables are built again from what production has now`;
  throw new Overtaken(`rows of ${list}`, problem, planned);
};
