// loadPipelineFile(): imports a user's TypeScript file and takes the pipeline that it exports.

import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, relative, resolve } from 'node:path';
import type * as Jiti from 'jiti';
import { codeOf, EtlError, messageOf } from '../core/errors/errors.ts';
import { nearest } from '../core/nearest.ts';
import * as authoring from './authoring.ts';
import { isPipeline, type Pipeline } from './define-pipeline.ts';
import { thrownAt } from './thrown-at.ts';
import { transpiledDirectory } from './transpiled.ts';

export interface LoadedPipeline {
  readonly pipeline: Pipeline;
  /** Directory of the file: SQL files are relative to it. */
  readonly directory: string;
  /** Absolute path. */
  readonly file: string;
}

const exportHint = 'End the file with `export default definePipeline({ … })`.';

/**
 * Imports a pipeline file, TypeScript or JavaScript; types are not checked. What the file imports from 'sluice'
 * is this very copy, already loaded, so the package need not even be installed where the file is.
 *
 * A file is imported once per process: changes need a new process.
 *
 * @param path relative to the working directory, or absolute.
 * @param library what `import … from 'sluice'` gives; a door that exports more than authoring.ts says so.
 * @throws EtlError ETL_PIPELINE_FILE when the file is missing, cannot be read, fails, or exports no pipeline;
 *   errors of definePipeline pass through untouched
 */
export const loadPipelineFile = async (
  path: string,
  library: object = authoring,
): Promise<LoadedPipeline> => {
  const file = resolve(path);
  await mustBeFile(path, file);
  const exported = await importFile(path, file, library);
  const pipeline = exported.default;
  if (!isPipeline(pipeline)) throw noPipeline(path, exported);
  return { pipeline, directory: dirname(file), file };
};

const mustBeFile = async (path: string, file: string): Promise<void> => {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile()) return;
  if (found !== undefined) {
    const hint = `Name the file itself, such as ${path.replace(/\/+$/, '')}/pipeline.ts.`;
    throw fileError(path, 'it is not a file', hint);
  }
  const directory = dirname(file);
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined) {
    const hint = 'Paths are relative to the working directory.';
    throw fileError(path, `the directory ${directory} does not exist`, hint);
  }
  const near = nearest(basename(file), names);
  const hint =
    near === undefined
      ? `Paths are relative to the working directory, ${process.cwd()}.`
      : `Did you mean ${relative(process.cwd(), resolve(directory, near))}?`;
  throw fileError(path, 'there is no such file', hint);
};

const importFile = async (path: string, file: string, library: object): Promise<Record<string, unknown>> => {
  // Loading jiti takes 70 ms, so it is loaded only here, and as CommonJS: behind its ES module, Node first reads all
  // of it for the names of its exports. Its default for interop stays, because its cache of transpiled files, which
  // other programs share, does not tell one setting from another.
  const { createJiti } = createRequire(import.meta.url)('jiti') as typeof Jiti;
  const jiti = createJiti(file, {
    tsconfigPaths: true,
    fsCache: transpiledDirectory(),
    virtualModules: { sluice: library },
  });
  try {
    return await orStuck(path, jiti.import<Record<string, unknown>>(file));
  } catch (cause) {
    // The error is known by its name, because the file may have thrown it with another copy of sluice.
    if (cause instanceof Error && cause.name === 'EtlError') throw cause;
    const hint = 'Fix the file; `npx tsc --noEmit` shows more.';
    throw fileError(path, await thrownText(cause, file), hint, cause);
  }
};

/** Reports a file whose await never ends. Node itself would end the process without a message. */
const orStuck = async <T>(path: string, work: Promise<T>): Promise<T> => {
  let reportStuck: (() => void) | undefined;
  const stuck = new Promise<never>((_, reject) => {
    const hint = 'Remove the await; a pipeline file does not need to wait for anything.';
    reportStuck = () => reject(fileError(path, 'it awaits something that never happens', hint));
  });
  process.once('beforeExit', reportStuck!);
  try {
    return await Promise.race([work, stuck]);
  } finally {
    process.off('beforeExit', reportStuck!);
  }
};

const noPipeline = (path: string, exported: Readonly<Record<string, unknown>>): EtlError => {
  if ('default' in exported) {
    return fileError(path, 'its default export was not made by definePipeline', exportHint);
  }
  const named = Object.keys(exported).find((name) => isPipeline(exported[name]));
  return named === undefined
    ? fileError(path, 'it has no default export', exportHint)
    : fileError(path, `it has no default export, only \`${named}\``, `Add \`export default ${named};\`.`);
};

const fileError = (file: string, problem: string, hint: string, cause?: unknown): EtlError =>
  new EtlError('ETL_PIPELINE_FILE', { file, problem, hint }, cause === undefined ? undefined : { cause });

/** The message, and file:line:column of the user's own code that threw. */
const thrownText = async (thrown: unknown, file: string): Promise<string> => {
  const message = plainMessage(messageOf(thrown), file);
  // The message names the module, and its stack shows only where the imports begin.
  if (moduleMissing.has(codeOf(thrown) ?? '')) return message;
  const line = thrown instanceof Error ? await thrownAt(thrown, file) : undefined;
  return line === undefined || message.includes(line) ? message : `${message} (${line})`;
};

const moduleMissing = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND']);

/** The message without what transpiling did to names and columns, and without Node's list of requirers. */
const plainMessage = (message: string, file: string): string =>
  message
    .replace(/\s*Require stack:[\s\S]*$/, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\(0 ?, _\w+?\.(\w+)\)/g, '$1')
    .replace(/\b_\w+?\.(?=\w)/g, '')
    .replace(/^ParseError: (.*) (\S+):(\d+):\d+$/, (_, what, __, line) => `${what} (${file}:${line})`)
    .trim();
