// Where in the user's own files an error was thrown. The files run transpiled, so its lines are mapped back.

import { readFile } from 'node:fs/promises';
import { SourceMap, type SourceMapping } from 'node:module';
import { dirname } from 'node:path';

interface Frame {
  readonly path: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

/** As the user wrote it; the column is not always known. */
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

/** The transpiled source of a file, with its source map at the end. */
const transpile = async (file: string, source: string): Promise<string> => {
  const { createJiti } = await import('jiti');
  // The cache has no source maps, which are needed only here.
  return createJiti(file, { fsCache: false, sourceMaps: true }).transform({
    source,
    filename: file,
    ts: true,
    async: true,
  });
};

const mapPattern = /sourceMappingURL=data:application\/json;charset=utf-8;base64,([\w+/=]+)\s*$/;

/** A frame of the stack, as a line of the file that its author wrote. */
const originalOf = async (frame: Frame): Promise<Original | undefined> => {
  const { path, line, column } = frame;
  // TypeScript is always transpiled. In other files, a column beyond the end of its line shows that they were.
  const source = await readFile(path, 'utf8').catch(() => '');
  if (!/\.[cm]?tsx?$/.test(path))
    return column <= (source.split('\n')[line - 1] ?? '').length ? frame : undefined;
  const [, map = ''] = mapPattern.exec(await transpile(path, source).catch(() => '')) ?? [];
  if (map === '') return undefined;
  const lines = new SourceMap(JSON.parse(Buffer.from(map, 'base64').toString()));
  // The transpiled line may begin with code that is not from the file; then its start has no entry in the map.
  const found = [lines.findEntry(line - 1, column - 1), lines.findEntry(line, 0)].map(
    (each) => each as Partial<SourceMapping>,
  );
  const entry = found.find(({ originalLine }) => originalLine !== undefined);
  if (entry?.originalLine === undefined || entry.originalColumn === undefined) return undefined;
  // Columns of the first line include the code that wraps the file.
  const isExact = line > 1 || entry === found[1];
  return { line: entry.originalLine + 1, column: isExact ? entry.originalColumn + 1 : undefined };
};

/** file:line:column of the innermost stack frame in the pipeline file, or else in a file that it imports. */
export const thrownAt = async (thrown: Error, file: string): Promise<string | undefined> => {
  const frames = framesOf(thrown);
  const isTheirs = (path: string): boolean =>
    path.startsWith(`${dirname(file)}/`) && !path.includes('/node_modules/');
  const frame = frames.find(({ path }) => path === file) ?? frames.find(({ path }) => isTheirs(path));
  if (frame === undefined) return undefined;
  const original = await originalOf(frame);
  return [frame.path, original?.line, original?.column].filter((part) => part !== undefined).join(':');
};
