// Loads the pipeline that a command line names: a file, or a name in the folder of pipelines.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isPipelineFile } from '../pipeline/file-name.ts';
import type { LoadedPipeline } from '../pipeline/load-file.ts';
import { defaultFolder } from './inputs.ts';
import type { Io } from './io.ts';

export const pipelinesFolder = ({ env }: Io): string => env['ETL_PIPELINES'] || defaultFolder;

export const openPipeline = async ({
  io,
  file,
  params,
}: {
  readonly io: Io;
  readonly file: string;
  readonly params: Readonly<Record<string, string>>;
}) => {
  const { pipeline, directory } = await loadPipeline(file, io);
  return { pipeline, options: { params, directory, workingDirectory: io.workingDirectory } };
};

/**
 * Loads a pipeline by its file or name.
 * Errors: ETL_PIPELINE_FILE, ETL_PIPELINE_UNKNOWN, ETL_PIPELINE_FOLDER, ETL_DEFINITION.
 */
export const loadPipeline = async (given: string, io: Io): Promise<LoadedPipeline> => {
  const folder = resolve(io.workingDirectory, pipelinesFolder(io));
  const found = async (path: string) => stat(path).catch(() => undefined);
  const isPath = /[\\/]/.test(given) || isPipelineFile(given) || (await found(given))?.isFile() === true;
  if (!isPath && (await found(folder))?.isDirectory() === true) {
    const { findPipeline } = await import('../worker/catalog.ts');
    return findPipeline(folder, given);
  }
  const { loadPipelineFile } = await import('../pipeline/load-file.ts');
  return loadPipelineFile(given);
};
