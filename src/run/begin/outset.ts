// Decides how a run would begin, given files and definition: nothing to do, continue an unfinished
// run, or write a new one.

import { recorrectedTables } from '../../ledger/rejects/corrections.ts';
import { decideBeginning, type Beginning, type KnownFile } from '../../ledger/run/decide.ts';
import { latestRun, loadedChunks, runFiles, type LatestRun } from '../../ledger/run/ledger.ts';
import { fenceRun } from '../../ledger/run/take-over.ts';
import { runQuery } from '../../db/client.ts';
import type { OutsetContext } from '../context.ts';
import { directTables } from '../../db/landing.ts';
import type { RunSettings } from '../options.ts';
import { refuseWithdrawn } from './refuse-withdrawn.ts';
import { existingLandings } from './make-landings.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import { standingRun } from './standing.ts';

export interface Outset {
  /** The newest run of the pipeline. */
  readonly latest: LatestRun | undefined;
  readonly beginning: Beginning;
  /** True if definition and files are those of the unfinished run, which is continued. */
  readonly isAsItWas: boolean;
  /** The run that has published exactly this already; undefined if there is work to do. */
  readonly standing: number | undefined;
}

type Asked = Pick<RunSettings, 'fullRefresh' | 'fresh'>;

const startsOver = ({ fullRefresh, fresh }: Asked): boolean => fullRefresh || fresh;

export const isUnfinished = (run: LatestRun | undefined): run is LatestRun =>
  run !== undefined && run.state !== 'published';

/**
 * True if everything is loaded again: the caller asks for it, or the unfinished run that is
 * continued was a full refresh. A full refresh that would have deleted rows of others
 * (ETL_ROWS_LOST) is not repeated: the next run adds what is missing.
 */
export const isFullRefresh = async ({
  client,
  spec,
  fullRefresh,
  fresh,
}: Pick<OutsetContext, 'client' | 'spec'> & Asked): Promise<boolean> => {
  if (startsOver({ fullRefresh, fresh })) return fullRefresh;
  const latest = await latestRun(client, spec.name);
  return isUnfinished(latest) && latest.isFullRefresh && latest.errorCode !== 'ETL_ROWS_LOST';
};

/**
 * Returns the files of an unfinished run, and for each whether anything loaded from it still
 * counts.
 */
const knownFiles = async (
  { client, spec, epoch }: OutsetContext,
  run: LatestRun,
): Promise<readonly KnownFile[]> => {
  const loaded = new Set((await loadedChunks(client, run.id)).map(({ fileId }) => fileId));
  const direct = directTables(spec);
  // A crash has emptied unlogged tables.
  return (await runFiles(client, run.id)).map((file) => ({
    ...file,
    isLoaded: loaded.has(file.id) && (run.epoch === epoch || direct.includes(file.table)),
  }));
};

const decide = async (
  context: OutsetContext,
  latest: LatestRun | undefined,
  planned: readonly PlannedTable[],
  fresh: boolean,
): Promise<Beginning> => {
  const { client, spec, hashes } = context;
  return decideBeginning({
    latest,
    before: isUnfinished(latest) ? await knownFiles(context, latest) : [],
    now: planned.flatMap(({ files }) => files),
    stagedHashes: hashes.staged,
    landings: isUnfinished(latest) ? await existingLandings(client, spec, planned) : new Set(),
    recorrected: isUnfinished(latest) ? await recorrectedTables(client, latest.id) : new Set(),
    fresh,
  });
};

/**
 * Decides how a run would begin, and changes nothing. `resume`: continue an unfinished run even if
 * an earlier run published the same files. While others load for an unfinished run, its state may
 * change. Errors: ETL_ROLLED_BACK.
 */
export const lookAtOutset = async (
  context: OutsetContext & Asked,
  planned: readonly PlannedTable[],
  resume = false,
): Promise<Outset> => {
  const { fullRefresh, hashes } = context;
  const startOver = startsOver(context);
  const latest = await latestRun(context.client, context.spec.name);
  const beginning = await decide(context, latest, planned, startOver);
  const isAsItWas =
    beginning.kind === 'resume' &&
    beginning.changes.length === 0 &&
    latest?.definitionHash === hashes.definition;
  const goesOn = isAsItWas || (resume && latest?.state !== 'published');
  const standing = startOver || goesOn ? undefined : await standingRun(context, planned);
  if (standing === undefined && !fullRefresh) await refuseWithdrawn(context, planned);
  return { latest, beginning, isAsItWas, standing };
};

/**
 * Decides how a run begins, for the holder of the pipeline's lock. If an unfinished run has
 * changes, its loaders are stopped first, so that the reported changes are final.
 */
export const findOutset = async (
  context: OutsetContext & Asked,
  planned: readonly PlannedTable[],
  resume: boolean,
): Promise<Outset> => {
  const outset = await lookAtOutset(context, planned, resume);
  const { latest, beginning, standing } = outset;
  if (standing !== undefined || beginning.kind === 'new' || beginning.changes.length === 0) return outset;
  // A chunk in flight may be the first chunk of a changed file.
  await runQuery(context.client, fenceRun(beginning.runId));
  return { ...outset, beginning: await decide(context, latest, planned, startsOver(context)) };
};

/** Says why a run is not simply continued, one line per reason. */
export const reasonsOf = (beginning: Beginning): readonly string[] => {
  if (beginning.kind === 'new') return beginning.why === undefined ? [] : [beginning.why];
  return beginning.changes.map(({ table, isKept, why }) =>
    isKept
      ? `run ${beginning.runId} continues with the current files of table ${table}: ${why}`
      : `run ${beginning.runId} continues, but loads table ${table} again, because ${why}`,
  );
};
