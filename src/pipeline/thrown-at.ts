// Finds the line of the user's own code that threw an error. Pipeline files run transpiled, so
// lines of the stack are mapped back to lines of the source.

import { readFile } from 'node:fs/promises';
import { SourceMap, type SourceMapping } from 'node:module';
import { dirname } from 'node:path';

/** A stack frame. Line and column are counted from 1. */
interface Frame {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Line and column in the user's source; the column is undefined if it is not known. */
interface Original {
  readonly line: number;
  readonly column: number | undefined;
}

const framePattern = /((?:\/|[A-Z]:\\)[^()]+?):(\d+):(\d+)\)?$/;

const framesOf = (error: Error): readonly Frame[] =>
  (error.stack ?? '').split('\n').flatMap((text) => {
    const [, path, line, column] = framePattern.exec(text) ?? [];
    return path === undefined ? [] : [{ path, line: Number(line), column: Number(column) }];
  });

/** Transpiles a file, with the source map at the end of the result. */
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

/** Maps a stack frame to the user's source, or returns undefined if it cannot be mapped. */
const originalOf = async (frame: Frame): Promise<Original | undefined> => {
  const { path, line, column } = frame;
  // TypeScript is always transpiled. A JavaScript file was transpiled if the column is beyond its
  // line.
  const source = await readFile(path, 'utf8').catch(() => '');
  if (!/\.[cm]?tsx?$/.test(path))
    return column <= (source.split('\n')[line - 1] ?? '').length ? frame : undefined;
  const [, map = ''] = mapPattern.exec(await transpile(path, source).catch(() => '')) ?? [];
  if (map === '') return undefined;
  const lines = new SourceMap(JSON.parse(Buffer.from(map, 'base64').toString()));
  // The transpiled line may begin with generated code, which the map does not contain. Then the
  // start of the next line tells which source line it belongs to.
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
export const thrownAt = async (thrown: Error, file: string): Promise<string | undefined> => {
  const frames = framesOf(thrown);
  const isTheirs = (path: string): boolean =>
    path.startsWith(`${dirname(file)}/`) && !path.includes('/node_modules/');
  const frame = frames.find(({ path }) => path === file) ?? frames.find(({ path }) => isTheirs(path));
  if (frame === undefined) return undefined;
  const original = await originalOf(frame);
  return [frame.path, original?.line, original?.column].filter((part) => part !== undefined).join(':');
};
