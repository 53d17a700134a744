// The pipelines of one folder, by name: a worker runs no others, so no job names a file.

import { readdir } from 'node:fs/promises';
import { join, parse, resolve } from 'node:path';
import { EtlError, messageOf } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { loadPipelineFile, type LoadedPipeline } from '../pipeline/load-file.ts';

export interface Catalog {
  readonly names: readonly string[];
  /** Errors: ETL_PIPELINE_UNKNOWN. */
  readonly find: (pipeline: string) => LoadedPipeline;
  readonly has: (pipeline: string) => boolean;
}

const isPipelineFile = (name: string): boolean => /(?<!\.d)\.[cm]?[jt]s$/.test(name);

const listFolder = async (folder: string): Promise<readonly string[]> => {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && isPipelineFile(entry.name))
      .map(({ name }) => name)
      .toSorted((one, other) => (one < other ? -1 : 1));
  } catch (cause) {
    throw new EtlError('ETL_PIPELINE_FOLDER', { folder, problem: messageOf(cause) }, { cause });
  }
};

/** Imports every pipeline of a folder, once. Errors: ETL_PIPELINE_FOLDER; those of loadPipelineFile. */
export const loadCatalog = async (folder: string): Promise<Catalog> => {
  const refuse = (problem: string): never => {
    throw new EtlError('ETL_PIPELINE_FOLDER', { folder, problem });
  };
  const loaded = new Map<string, LoadedPipeline>();
  for (const name of await listFolder(resolve(folder))) {
    const pipeline = await loadPipelineFile(join(folder, name));
    const other = loaded.get(pipeline.pipeline.name);
    if (other !== undefined) refuse(`${other.file} and ${pipeline.file} both are ${pipeline.pipeline.name}`);
    loaded.set(pipeline.pipeline.name, pipeline);
  }
  if (loaded.size === 0) refuse('there is none');
  const names = [...loaded.keys()];
  return {
    names,
    has: (pipeline) => loaded.has(pipeline),
    find: (pipeline) => {
      const found = loaded.get(pipeline);
      if (found !== undefined) return found;
      const near = nearest(pipeline, names);
      const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
      throw new EtlError('ETL_PIPELINE_UNKNOWN', { pipeline, folder, suggestion });
    },
  };
};

/**
 * One pipeline of a folder, by its name or that of its file, which is tried first: the others are only loaded if it is not there.
 * Errors: ETL_PIPELINE_UNKNOWN, ETL_PIPELINE_FOLDER; those of loadPipelineFile.
 */
export const findPipeline = async (folder: string, name: string): Promise<LoadedPipeline> => {
  const file = (await listFolder(folder)).find((one) => parse(one).name === name);
  return file === undefined ? (await loadCatalog(folder)).find(name) : loadPipelineFile(join(folder, file));
};
