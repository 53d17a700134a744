// The pipelines of one folder, by name. A worker runs no others, so a job never names a file.

import { readdir } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import { EtlError, codeOf, messageOf } from '../core/errors/errors.ts';
import { nearest } from '../core/nearest.ts';
import { firstOf } from '../core/wording.ts';
import { isPipelineFile } from '../pipeline/file-name.ts';
import { loadPipelineFile, type LoadedPipeline } from '../pipeline/load-file.ts';

export interface BrokenFile {
  readonly file: string;
  readonly error: EtlError;
}

export interface Catalog {
  readonly names: readonly string[];
  /** Files of the folder that cannot be loaded, with the reason. */
  readonly broken: readonly BrokenFile[];
  /** Errors: ETL_PIPELINE_UNKNOWN. */
  readonly find: (pipeline: string) => LoadedPipeline;
  readonly has: (pipeline: string) => boolean;
}

const listFolder = async (folder: string): Promise<readonly string[]> => {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return (
      entries
        // Kubernetes mounts each file of a ConfigMap as a link.
        .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && isPipelineFile(entry.name))
        .map(({ name }) => name)
        .toSorted((one, other) => (one < other ? -1 : 1))
    );
  } catch (cause) {
    const problem = codeOf(cause) === 'ENOENT' ? 'there is no such folder' : messageOf(cause);
    throw new EtlError('ETL_PIPELINE_FOLDER', { folder, problem }, { cause });
  }
};

const namesShown = 12;

const brokenText = (files: readonly string[]): string =>
  files.length === 0 ? '' : `; these files cannot be loaded: ${files.join(', ')}`;

const unknownPipeline = (
  pipeline: string,
  folder: string,
  names: readonly string[],
  others = '',
): EtlError => {
  const near = nearest(pipeline, names);
  const known = names.length === 0 ? '' : `; it has ${firstOf(names, namesShown).join(', ')}`;
  const suggestion = near === undefined ? `${known}${others}` : `; did you mean ${near}?`;
  return new EtlError('ETL_PIPELINE_UNKNOWN', { pipeline, folder, suggestion });
};

/**
 * Loads all pipelines of a folder. A broken file stops only its own pipeline, unless no other is
 * there. Errors: ETL_PIPELINE_FOLDER; that of the first broken file.
 */
export const loadCatalog = async (folder: string): Promise<Catalog> => {
  const refuse = (problem: string): never => {
    throw new EtlError('ETL_PIPELINE_FOLDER', { folder, problem });
  };
  const loaded = new Map<string, LoadedPipeline>();
  const broken: BrokenFile[] = [];
  for (const name of await listFolder(resolve(folder))) {
    const file = join(folder, name);
    const pipeline = await loadPipelineFile(file).catch((error: unknown) => {
      if (!(error instanceof EtlError)) throw error;
      broken.push({ file, error });
    });
    if (pipeline === undefined) continue;
    const other = loaded.get(pipeline.pipeline.name);
    if (other !== undefined)
      refuse(`${other.file} and ${pipeline.file} both define pipeline ${pipeline.pipeline.name}`);
    loaded.set(pipeline.pipeline.name, pipeline);
  }
  if (loaded.size === 0 && broken.length > 0) throw broken[0]!.error;
  if (loaded.size === 0) refuse('there is no pipeline file');
  const names = [...loaded.keys()];
  return {
    names,
    broken,
    has: (pipeline) => loaded.has(pipeline),
    find: (pipeline) => {
      const found = loaded.get(pipeline);
      if (found !== undefined) return found;
      throw unknownPipeline(pipeline, folder, names, brokenText(broken.map(({ file }) => basename(file))));
    },
  };
};

/** Lists names that `findPipeline` accepts, without loading files. Errors: ETL_PIPELINE_FOLDER. */
export const pipelinesOf = async (folder: string): Promise<readonly string[]> =>
  (await listFolder(folder)).map((file) => parse(file).name);

/**
 * Finds a pipeline by its file's name, otherwise by loading all files that can be loaded. Errors:
 * ETL_PIPELINE_UNKNOWN, ETL_PIPELINE_FOLDER; those of loadPipelineFile.
 */
export const findPipeline = async (folder: string, name: string): Promise<LoadedPipeline> => {
  const files = await listFolder(folder);
  const own = files.find((file) => parse(file).name === name);
  if (own !== undefined) return loadPipelineFile(join(folder, own));
  const names: string[] = [];
  const broken: string[] = [];
  for (const file of files) {
    const loaded = await loadPipelineFile(join(folder, file)).catch((error: unknown) => {
      if (!(error instanceof EtlError)) throw error;
      broken.push(file);
    });
    if (loaded?.pipeline.name === name) return loaded;
    if (loaded) names.push(loaded.pipeline.name);
  }
  throw unknownPipeline(name, folder, names, brokenText(broken));
};
