// Loads segments of runs that other processes coordinate, while this worker has no run of its own.

import { rowsOf, type Client } from '../db/client.ts';
import { asEtlError } from '../core/errors/errors.ts';
import { helpPollMs } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { loadForWorker } from '../run/help.ts';
import type { FromWorker, RunOptions } from '../run/options.ts';
import type { Catalog } from './catalog.ts';
import type { Look } from './watch.ts';

interface LoadingRow {
  readonly id: number;
  readonly pipeline: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly generation: number;
}

export interface Helper {
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  /** Polls for a run to help, unless this worker already helps a run. */
  readonly look: Look;
  readonly close: () => Promise<void>;
}

interface HelperOptions {
  readonly catalog: Catalog;
  readonly queueNames: readonly string[];
  readonly logger: Logger;
  readonly common: RunOptions;
  readonly fromWorker: (pipeline: string) => FromWorker;
  readonly abort: AbortSignal;
}

/** After a crash, a run can be helped again when its coordinator has adopted the new epoch. */
const loadingRuns = (client: Client, queueNames: readonly string[]): Promise<readonly LoadingRow[]> =>
  rowsOf(client, {
    text: `select id::float8 as id, pipeline, pinned_params as params, generation from etl.run
        where state = 'loading' and queue = any ($1) and epoch = (select epoch from etl.canary) order by id`,
    values: [queueNames],
  });

/** Signals to stop helping: `pausing` while the worker has its own run, `over` for good. */
interface Rest {
  readonly over: AbortController;
  pausing: AbortController;
  isResting: boolean;
}

/** Keys of a run that must not be helped again: for good, or only under this coordinator. */
const keysOf = ({ id, generation }: LoadingRow): readonly string[] => [`${id}`, `${id} ${generation}`];

/** Errors after which the run can be helped again under its next coordinator. */
const coordinatorCodes = new Set(['ETL_JOIN_REFUSED', 'ETL_RUN_SUPERSEDED', 'ETL_LOCK_LOST']);

/** Helps a run. Returns its key if it must not be helped again. */
const help = async (options: HelperOptions, rest: Rest, row: LoadingRow): Promise<string | undefined> => {
  const { catalog, logger, common, fromWorker, abort } = options;
  const { pipeline: name, params, id: run } = row;
  const { pipeline, directory, file } = catalog.find(name);
  const drain = AbortSignal.any([rest.pausing.signal, rest.over.signal]);
  try {
    logger.info({ run, pipeline: name }, 'helping a run');
    const own = { ...common, params, directory, pipelineFile: file, drain, signal: abort };
    await loadForWorker(pipeline, own, fromWorker(name));
    logger.info({ run, pipeline: name }, 'helped a run');
    return undefined;
  } catch (error) {
    if (drain.aborted) return undefined;
    const { code, message, hint, retry } = asEtlError(error);
    logger.warn({ run, pipeline: name, code, error: message, hint }, 'stopped helping a run');
    const [ofRun, ofCoordinator] = keysOf(row);
    if (coordinatorCodes.has(code)) return ofCoordinator;
    return retry === 'never' || code === 'ETL_SOURCE_ELSEWHERE' ? ofRun : undefined;
  }
};

export const createHelper = (options: HelperOptions): Helper => {
  const { catalog, queueNames } = options;
  const rest: Rest = { over: new AbortController(), pausing: new AbortController(), isResting: false };
  const refused = new Set<string>();
  let helping: Promise<void> | undefined;

  const helpWith = async (row: LoadingRow): Promise<void> => {
    const key = await help(options, rest, row);
    if (key !== undefined) refused.add(key);
    helping = undefined;
  };
  const look = async (client: Client): Promise<void> => {
    const rows = await loadingRuns(client, queueNames);
    const keys = new Set(rows.flatMap(keysOf));
    for (const key of refused) if (!keys.has(key)) refused.delete(key);
    if (helping !== undefined || rest.isResting || rest.over.signal.aborted) return;
    const row = rows.find(
      (each) => catalog.has(each.pipeline) && !keysOf(each).some((key) => refused.has(key)),
    );
    if (row !== undefined) helping = helpWith(row);
  };
  return {
    pause: async () => {
      rest.isResting = true;
      rest.pausing.abort(new DOMException('a run of its own', 'AbortError'));
      await helping;
    },
    resume: () => {
      rest.pausing = new AbortController();
      rest.isResting = false;
    },
    look: { everyMs: helpPollMs, problem: 'the server cannot be queried for runs to help', look },
    close: async () => {
      rest.over.abort(new DOMException('stopping', 'AbortError'));
      await helping;
    },
  };
};
