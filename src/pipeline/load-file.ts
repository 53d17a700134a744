// loadPipelineFile(): imports a user's TypeScript file and returns the pipeline that it exports.

import { lstatSync, mkdirSync } from 'node:fs';
import { readdir, stat, readFile } from 'node:fs/promises';
import { createRequire, SourceMap, type SourceMapping } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize, relative, resolve, sep } from 'node:path';
import type * as Jiti from 'jiti';
import { composed } from '../core/characters.ts';
import { codeOf, EtlError, messageOf } from '../core/errors/errors.ts';
import { nearest } from '../core/nearest.ts';
import { isOwn } from '../core/ownership.ts';
import * as authoring from './authoring.ts';
import { isPipeline, type Pipeline } from './define-pipeline.ts';

// Pipeline files run transpiled, so the line that threw an error is mapped back to the source.

interface Frame {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

interface Original {
  readonly line: number;
  readonly column: number | undefined;
}

const framePattern = /((?:\/|[A-Z]:[\\/])[^()]+?):(\d+):(\d+)\)?$/;

const framesOf = (error: Error): readonly Frame[] =>
  (error.stack ?? '').split('\n').flatMap((text) => {
    const [, path, line, column] = framePattern.exec(text) ?? [];
    // On Windows, jiti names files with slashes.
    return path === undefined ? [] : [{ path: normalize(path), line: Number(line), column: Number(column) }];
  });

const transpile = async (file: string, source: string): Promise<string> => {
  const { createJiti } = await import('jiti');
  // Without the cache, because cached files have no source map.
  return createJiti(file, { fsCache: false, sourceMaps: true }).transform({
    source,
    filename: file,
    ts: true,
    async: true,
  });
};

const mapPattern = /sourceMappingURL=data:application\/json;charset=utf-8;base64,([\w+/=]+)\s*$/;

/** Maps a stack frame to the user's source; undefined: the map does not contain it. */
const originalOf = async (frame: Frame): Promise<Original | undefined> => {
  const { path, line, column } = frame;
  // TypeScript is always transpiled. A JavaScript frame was transpiled only if its column is past
  // the end of the line.
  const source = await readFile(path, 'utf8').catch(() => '');
  if (!/\.[cm]?tsx?$/.test(path))
    return column <= (source.split('\n')[line - 1] ?? '').length ? frame : undefined;
  const [, map = ''] = mapPattern.exec(await transpile(path, source).catch(() => '')) ?? [];
  if (map === '') return undefined;
  const lines = new SourceMap(JSON.parse(Buffer.from(map, 'base64').toString()));
  // The map has no entry for generated code that begins a line: use the start of the next line.
  const found = [lines.findEntry(line - 1, column - 1), lines.findEntry(line, 0)].map(
    (each) => each as Partial<SourceMapping>,
  );
  const entry = found.find(({ originalLine }) => originalLine !== undefined);
  if (entry?.originalLine === undefined || entry.originalColumn === undefined) return undefined;
  // The first transpiled line begins with code that wraps the file, so its columns are shifted.
  const isExact = line > 1 || entry === found[1];
  return { line: entry.originalLine + 1, column: isExact ? entry.originalColumn + 1 : undefined };
};

/** Returns file:line:column of the innermost frame in the pipeline file, or in its imports. */
const thrownAt = async (thrown: Error, file: string): Promise<string | undefined> => {
  const frames = framesOf(thrown);
  const isTheirs = (path: string): boolean =>
    path.startsWith(dirname(file) + sep) && !path.includes(`${sep}node_modules${sep}`);
  const frame = frames.find(({ path }) => path === file) ?? frames.find(({ path }) => isTheirs(path));
  if (frame === undefined) return undefined;
  const original = await originalOf(frame);
  return [frame.path, original?.line, original?.column].filter((part) => part !== undefined).join(':');
};

/** A pipeline file that was imported: the result of loadPipelineFile. */
export interface LoadedPipeline {
  /** The default export of the file. */
  readonly pipeline: Pipeline;
  /** Directory of the pipeline file. Paths of SQL files are relative to this directory. */
  readonly directory: string;
  /** Absolute path. */
  readonly file: string;
}

const exportHint = 'End the file with `export default definePipeline({ … })`.';

/**
 * Imports a pipeline file in TypeScript or JavaScript, without checking its types. An import of
 * 'sluice' in the file resolves to this loaded copy, so the package need not be installed there.
 *
 * A file is imported once per process, so changes of the file need a new process.
 *
 * @param path relative to the working directory, or absolute.
 * @param library the module that `import … from 'sluice'` gets.
 * @throws EtlError ETL_PIPELINE_FILE if the file is missing, cannot be read, throws or exports no
 *   pipeline. Errors of definePipeline are thrown unchanged.
 */
export const loadPipelineFile = async (
  path: string,
  library: object = authoring,
): Promise<LoadedPipeline> => {
  const file = await existingFile(path, resolve(path));
  const exported = await importFile(path, file, library);
  const pipeline = exported.default;
  if (!isPipeline(pipeline)) throw noPipeline(path, exported);
  return { pipeline, directory: dirname(file), file };
};

/** Returns the file's path as the file system writes its accents. */
const existingFile = async (path: string, file: string): Promise<string> => {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile()) return file;
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
  const name = basename(file);
  const same = names.find((other) => other !== name && composed(other) === composed(name));
  if (same !== undefined) return existingFile(path, join(directory, same));
  const near = nearest(name, names);
  const hint =
    near === undefined
      ? `Paths are relative to the working directory, ${process.cwd()}.`
      : `Did you mean ${relative(process.cwd(), resolve(directory, near))}?`;
  throw fileError(path, 'there is no such file', hint);
};

/**
 * Returns a cache directory that only this user can write to, or false. In jiti's default
 * directory, another user could plant code that runs as a pipeline: jiti finds files by a hash of
 * the source.
 */
const transpiledDirectory = (): string | false => {
  const directory = join(tmpdir(), `sluice-transpiled-${process.geteuid?.() ?? ''}`);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return false;
  }
  const found = lstatSync(directory, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && isOwn(found) ? directory : false;
};

const importFile = async (path: string, file: string, library: object): Promise<Record<string, unknown>> => {
  // jiti takes 70 ms to load, and longer as an ES module: Node would first search it for exports.
  const { createJiti } = createRequire(import.meta.url)('jiti') as typeof Jiti;
  const jiti = createJiti(file, {
    tsconfigPaths: true,
    fsCache: transpiledDirectory(),
    virtualModules: { sluice: library },
  });
  try {
    return await orStuck(path, jiti.import<Record<string, unknown>>(file));
  } catch (cause) {
    // The error is recognized by its name, because the file may import another copy of sluice.
    if (cause instanceof Error && cause.name === 'EtlError') throw cause;
    const hint = 'Fix the file; `npx tsc --noEmit` shows more.';
    throw fileError(path, await thrownText(cause, file), hint, cause);
  }
};

/** Throws if an await of the file never ends: Node itself would exit without a message. */
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

const thrownText = async (thrown: unknown, file: string): Promise<string> => {
  const message = plainMessage(messageOf(thrown), file);
  // The message of a missing module names it already, and the stack lacks the import statement.
  if (moduleMissing.has(codeOf(thrown) ?? '')) return message;
  const line = thrown instanceof Error ? await thrownAt(thrown, file) : undefined;
  return line === undefined || message.includes(line) ? message : `${message} (${line})`;
};

const moduleMissing = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND']);

/** Removes names and columns that exist only in the transpiled code, and Node's "Require stack". */
const plainMessage = (message: string, file: string): string =>
  message
    .replace(/\s*Require stack:[\s\S]*$/, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\(0 ?, _\w+?\.(\w+)\)/g, '$1')
    .replace(/\b_\w+?\.(?=\w)/g, '')
    .replace(/^ParseError: (.*) (\S+):(\d+):\d+$/, (_, what, __, line) => `${what} (${file}:${line})`)
    .trim();
