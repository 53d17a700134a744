// loadFiles(): `etl load` as a function of the library.

import { EtlError } from '../../core/errors/errors.ts';
import type { RunResult } from '../../core/model.ts';
import { encodingOfLabel } from '../../input/encodings/labels.ts';
import { resolveOptions, type RunOptions } from '../../run/options.ts';
import { findServer } from '../../run/find-server.ts';
import { runPipeline } from '../../run/run-pipeline.ts';
import { withClient } from '../../db/client.ts';
import { noRules } from '../init/rules.ts';
import { loadModes, type LoadMode } from './load-modes.ts';
import { prepareLoad } from './prepare-load.ts';

/** Options of a run that depend on a pipeline, or are made from those of the load. */
type NotOfLoad = 'params' | 'directory' | 'pipelineFile' | 'fullRefresh' | 'reload' | 'unload';

/** How the files are written. What is left out is found by their first bytes. */
export interface LoadDialect {
  /** Such as 'windows-1252'. */
  readonly encoding?: string;
  /** Character between fields, such as ';' or a tab. */
  readonly delimiter?: string;
  /** null: quotes are data. */
  readonly quote?: string | null;
  /** Character that makes a quote inside quotes data: a quote, or a backslash. */
  readonly escape?: string;
  /** False: the first record is data, and fields are matched with columns by position. */
  readonly header?: boolean;
}

/** Options of loadFiles: of the load, and those of a run that do not depend on a pipeline. */
export interface LoadOptions extends Omit<RunOptions, NotOfLoad> {
  /** `table` or `schema.table`, quoted as in SQL where a name has a dot: '"my.table"'. */
  readonly into: string;
  /** What happens to the rows of the table. Default: 'append'. */
  readonly mode?: LoadMode;
  /**
   * Columns by which rows are merged: of a unique index. Default: the primary key. For a new table,
   * the fields of its primary key.
   */
  readonly key?: readonly string[];
  /** Columns by the fields whose names differ: `{ 'Full Name': 'name' }`. */
  readonly map?: Readonly<Record<string, string>>;
  /** Fields that are not loaded. */
  readonly skip?: readonly string[];
  /** The only columns to load. Without a header, those of the fields, in their order. */
  readonly only?: readonly string[];
  /** How the files are written. Default: found by their first bytes. */
  readonly csv?: LoadDialect;
  /** Time zone of times without one, for columns of type timestamptz: 'Europe/Berlin'. */
  readonly zone?: string;
  /** Records that may be rejected: 100 or '0.1%'. Default: none. */
  readonly rejectLimit?: number | `${number}%`;
}

const usage = (problem: string, hint: string): EtlError => new EtlError('ETL_USAGE', { problem, hint });

const readingOf = ({ encoding, header, ...dialect }: LoadDialect) => {
  const known = encoding === undefined ? undefined : encodingOfLabel(encoding);
  if (encoding !== undefined && known === undefined)
    throw usage(`csv.encoding: '${encoding}' is not an encoding`, "Such as 'windows-1250' or 'shift_jis'.");
  return { ...dialect, encoding: known, isHeader: header };
};

/**
 * Loads files into a table that exists or is made, like `etl load`, exactly once. The server is
 * found as by runPipeline.
 *
 * @param files paths, globs and URLs; paths are relative to `workingDirectory`.
 * @throws EtlError ETL_LOAD_FIELDS: fields and columns do not match · ETL_USAGE · ETL_FILE_CHANGED ·
 *   those of runPipeline
 */
export const loadFiles = async (
  files: string | readonly string[],
  { into, mode = 'append', key, map = {}, skip = [], only, csv = {}, zone, rejectLimit, ...run }: LoadOptions,
): Promise<RunResult> => {
  if (typeof into !== 'string') throw usage('into is missing', "Name the table: { into: 'users' }.");
  if (!loadModes.includes(mode))
    throw usage(`mode must be one of ${loadModes.join(', ')}`, 'The default is append.');
  const { workingDirectory, again, databaseUrl, connection, abort: signal } = resolveOptions(run);
  const server = await findServer({ databaseUrl, connection });
  const request = {
    files: [files].flat(),
    into,
    mode,
    key,
    skip,
    only,
    zone,
    map: new Map(Object.entries(map)),
    rejectLimit: rejectLimit?.toString(),
    reading: readingOf(csv),
    columns: noRules,
    workingDirectory,
    allowPrivate: false,
    signal,
  };
  const { pipeline } = await withClient(server, (client) => prepareLoad(client, request), signal);
  return runPipeline(pipeline, {
    ...run,
    again: again && mode !== 'replace',
    fullRefresh: again && mode === 'replace',
  });
};
