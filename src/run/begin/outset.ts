// What a run would begin as, given files and definition: nothing to do, an unfinished run to continue, or a new one.

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
  /** Definition and files are those of the run before, which is continued. */
  readonly isAsItWas: boolean;
  /** The run that has published all of this already. */
  readonly standing: number | undefined;
}

/** What the user asked for. */
type Asked = Pick<RunSettings, 'fullRefresh' | 'fresh'>;

const startsOver = ({ fullRefresh, fresh }: Asked): boolean => fullRefresh || fresh;

export const isUnfinished = (run: LatestRun | undefined): run is LatestRun =>
  run !== undefined && run.state !== 'published';

/**
 * Whether everything is loaded again: asked for now, or by the unfinished run that is continued. A run that would have deleted rows of others
 * when it was to be published is not: the next one adds what is missing.
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

/** Files of an unfinished run, and whether anything loaded from each of them still counts. */
const knownFiles = async (
  { client, spec, epoch }: OutsetContext,
  run: LatestRun,
): Promise<readonly KnownFile[]> => {
  const loaded = new Set((await loadedChunks(client, run.id)).map(({ fileId }) => fileId));
  const direct = directTables(spec);
  // A crash has emptied what is unlogged.
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
 * Looks, and changes nothing. `resume`: an unfinished run is continued, even if an earlier run published the same files. An unfinished run
 * may change while others load for it. Errors: ETL_ROLLED_BACK.
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

/** The same for the holder of the pipeline's lock, who stops the loaders of an unfinished run before its changes are reported. */
export const findOutset = async (
  context: OutsetContext & Asked,
  planned: readonly PlannedTable[],
  resume: boolean,
): Promise<Outset> => {
  const outset = await lookAtOutset(context, planned, resume);
  const { latest, beginning, standing } = outset;
  if (standing !== undefined || beginning.kind === 'new' || beginning.changes.length === 0) return outset;
  // A chunk in flight may be the first of a file that has changed.
  await runQuery(context.client, fenceRun(beginning.runId));
  return { ...outset, beginning: await decide(context, latest, planned, startsOver(context)) };
};

/** Why a run is not simply continued, one line per reason. */
export const reasonsOf = (beginning: Beginning): readonly string[] => {
  if (beginning.kind === 'new') return beginning.why === undefined ? [] : [beginning.why];
  return beginning.changes.map(({ table, isKept, why }) =>
    isKept
      ? `run ${beginning.runId} continues with the current files of table ${table}: ${why}`
      : `run ${beginning.runId} continues, but loads table ${table} again, because ${why}`,
  );
};
