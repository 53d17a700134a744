// The pipeline that a command names: a file, or a name looked up in the folder of pipelines.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Argument } from 'commander';
import { isPipelineFile } from '../pipeline/file-name.ts';
import type { LoadedPipeline } from '../pipeline/load-file.ts';
import type { Io } from './io.ts';

/** The folder where names are looked for, and which a worker serves, unless ETL_PIPELINES or --pipelines names another. */
export const defaultFolder = 'pipelines';

export const pipelinesFolder = ({ env }: Io): string => env['ETL_PIPELINES'] || defaultFolder;

/** The pipeline, as every command names it that needs one. */
export const pipelineArgument = (): Argument =>
  new Argument('<pipeline>', `TypeScript or JavaScript file of a pipeline, or its name in ${defaultFolder}/`);

/** Errors: ETL_PIPELINE_FILE, ETL_PIPELINE_UNKNOWN, ETL_PIPELINE_FOLDER, ETL_DEFINITION. */
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
