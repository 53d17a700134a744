// Whether what a run found of its tables when it was planned, and when it built them, still holds when it publishes them.
//
// Other pipelines may fill the same tables, and people may write to them. Everything is looked at again in the publishing transaction, under
// locks that keep it as it is: what was found decides which files a run has loaded, and what of the table they take the place of. So
//
//   the table was empty, or was not there, and has rows   the rows of the run are put beside these, by another build from the same staging
//   rows were to be replaced, and others have come        refused: ETL_ROWS_LOST
//   rows were to stay, and are gone                       refused: ETL_PUBLISH_OVERTAKEN; the next run loads more files
//   another pipeline has published the same file          refused: ETL_FILE_TWICE
//   tables were built or tested with rows of production,
//   and another run has published since                   they are built again
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
import type { RunContext } from '../context.ts';
import { refuseLoss } from '../files/refuse-loss.ts';

/** Raised when tables have to be built again, from the same staging, before they are published. */
export class Overtaken extends Error {
  /** What has changed, for people. */
  readonly what: string;
  /** What the run brings now. */
  readonly planned: readonly PlannedTable[];

  constructor(what: string, problem: string, planned: readonly PlannedTable[]) {
    super(problem);
    this.what = what;
    this.planned = planned;
  }
}

/**
 * Whether writers have to wait from the beginning of the publishing transaction although a new table takes the place of the old one: the new
 * one has rows of the old one, or all rows under the condition that the old one has no others.
 */
export const keepsWritersOut = ({ strategy, table, production }: PublishPlan): boolean =>
  strategy.holdsWriters === true ||
  (production !== undefined && table.extent === 'whole' && table.mode.takesParts);

/** Why a run may not add rows to a table: those that were to stay are gone. Undefined: they are there. */
const whyMissing = async (
  { client }: RunContext,
  of: FilesOf,
  { own }: Basis,
  { isFilled, isPublished }: { readonly isFilled: boolean; readonly isPublished: boolean },
): Promise<string | undefined> => {
  if (!isFilled) return 'its rows were deleted';
  if (!isPublished || (await ownFilesOf(client, of)) === own) return undefined;
  return 'another pipeline replaced rows of files that this one had loaded';
};

/** A run that brings all its files beside the rows that have come meanwhile. */
const besideOthers = ({ intake, ...planned }: PlannedTable, basis: Basis): PlannedTable => {
  const stays = meaningOf(planned.table.publish).replacesPartitions === true ? { stays: [] } : {};
  const outgoing: Intake['outgoing'] = { files: [], unloaded: [], ...stays, stale: basis.stale };
  return {
    ...planned,
    intake: { ...intake, extent: 'part', outgoing, basis: { ...basis, isFilledSince: true } },
  };
};

/** Judges a table that is loaded from files. Returns what the run brings if that is another part of it. Errors: those above. */
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
  // A file that both pipelines list, under one name or two, is loaded by one of them.
  if (isPublished && meaningOf(table.publish).refusesTwice === true)
    await refuseCopies(context, { ...planned, intake: { ...intake, extent: 'part' } });
  if (extent === 'whole') return besideOthers(planned, basis);
  if (basis.isFilledSince === true) return undefined;
  const problem = await whyMissing(context, of, basis, { isFilled, isPublished });
  if (problem !== undefined) throw new EtlError('ETL_PUBLISH_OVERTAKEN', { table: of.table, problem });
  return undefined;
};

/** Tables that were built, or tested, as other runs have not left them; none where nothing of the run depends on that. */
const outdated = (
  { spec }: RunContext,
  built: readonly BuiltTable[],
  now: ReadonlyMap<string, string>,
): readonly BuiltTable[] => {
  const readsProduction =
    spec.tables.some(({ kind, tests = [] }) => kind === 'derived' || tests.length > 0) ||
    built.some(({ touched }) => touched !== undefined);
  return readsProduction ? built.filter(({ table, publications }) => now.get(table) !== publications) : [];
};

/**
 * Throws when tables may not be published as they were planned and built. Called before rows are judged, and in the publishing transaction.
 * Errors: Overtaken, ETL_ROWS_LOST, ETL_FILE_TWICE, ETL_PUBLISH_OVERTAKEN.
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
    const problem = `${filled.join(', ')} got rows after this run was planned, so the rows of the run are put beside them, from what is loaded`;
    throw new Overtaken(`rows of ${filled.join(', ')}`, problem, brought);
  }
  const all = new Map(built.map((one) => [one.table, one]));
  const others = outdated(context, built, now).map(({ table }) => table);
  for (const table of spec.tables)
    if (table.kind === 'derived' && (await isOtherExtent(context, table, all))) others.push(table.name);
  if (others.length === 0) return;
  const list = [...new Set(others)].map(nameOf).join(', ');
  const problem = `rows of ${list} changed while the tables of this run were built; they are built again, with what is there now`;
  throw new Overtaken(`rows of ${list}`, problem, planned);
};
