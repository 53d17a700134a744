// What a run begins as: nothing to do, a continuation of an unfinished run, or a new run, and why. Pure.

import type { SourceFile } from '../model.ts';
import type { LatestRun, NewFile } from './ledger.ts';

export type Beginning =
  | { readonly kind: 'resume'; readonly runId: number }
  | { readonly kind: 'changed file'; readonly runId: number; readonly file: NewFile }
  /** `why`: for the user, when there is an unfinished run that is not continued. */
  | { readonly kind: 'new'; readonly why: string | undefined };

/** What is known when a run begins. */
export interface Situation {
  readonly latest: LatestRun | undefined;
  /** Files of the latest run, and of now. */
  readonly before: readonly SourceFile[];
  readonly now: readonly NewFile[];
  readonly definitionHash: string;
  readonly tableHashes: Readonly<Record<string, string>>;
  readonly stagingIsThere: boolean;
  /** The user asked to start over (`--fresh`, `--full-refresh`). */
  readonly fresh: boolean;
}

const key = ({ table, path }: { table: string; path: string }): string => `${table}\0${path}`;

const changedTables = ({ latest, tableHashes }: Situation): string => {
  const before = latest!.tableHashes;
  const names = new Set([...Object.keys(before), ...Object.keys(tableHashes)]);
  const changed = [...names].filter((name) => before[name] !== tableHashes[name]);
  return changed.length === 0 ? 'its parameters' : `table ${changed.join(', ')}`;
};

/**
 * Decides. Only the newest run can be continued: a newer one has dropped its staging tables.
 *
 * Definition and list of files must be the same. A file whose content changed ends a run that had failed by itself: it
 * was probably mended. In a run that was interrupted it is refused: half of the old file may be in staging, and whoever
 * changed it may not know.
 */
export const decideBeginning = (situation: Situation): Beginning => {
  const { latest, before, now, definitionHash, stagingIsThere, fresh } = situation;
  if (latest === undefined || latest.state === 'published') return { kind: 'new', why: undefined };
  const anew = (why: string): Beginning => ({
    kind: 'new',
    why: `run ${latest.id} was not finished; starting anew, because ${why}`,
  });
  if (fresh) return anew('everything is to be loaded again');
  if (latest.definitionHash !== definitionHash)
    return anew(`the definition changed since then (${changedTables(situation)})`);
  const known = new Map(before.map((file) => [key(file), file]));
  const added = now.find((file) => !known.has(key(file)));
  if (added !== undefined) return anew(`there is a new file, ${added.name}`);
  const names = new Set(now.map(key));
  const gone = before.find((file) => !names.has(key(file)));
  if (gone !== undefined) return anew(`${gone.name} is no longer there`);
  if (latest.errorCode === 'ETL_INCOMPLETE')
    return anew('its staging tables do not hold what the ledger says');
  if (!stagingIsThere) return anew('its staging tables are gone');
  const changed = now.find((file) => known.get(key(file))!.fingerprint !== file.fingerprint);
  if (changed === undefined) return { kind: 'resume', runId: latest.id };
  if (latest.state === 'failed') return anew(`${changed.name} has changed`);
  return { kind: 'changed file', runId: latest.id, file: changed };
};
