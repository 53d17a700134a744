// Streams, environment, directory and clock as one argument, so that tests can pass their own.

import { asCalled } from './called.ts';

export interface Output {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  getWindowSize?(): [number, number];
}

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export interface Io {
  readonly stdin?: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Environment variables. Only `addDotEnv` changes them: it adds missing ones. */
  readonly env: NodeJS.ProcessEnv;
  readonly workingDirectory: string;
  readonly clock: () => number;
}

/**
 * Terminal cells per line; infinite for a pipe, so that no text is cut there. A terminal without a
 * size reports zero.
 */
export const widthOf = (output: Output): number =>
  output.isTTY ? Math.max(20, output.columns || 80) : Number.POSITIVE_INFINITY;

/** Waits until the stream accepts more, to bound memory; false: the reader has closed the pipe. */
export const written = (output: Output, text: string): Promise<boolean> =>
  new Promise((resolve) => output.write(text, (error) => resolve(!error)));

/**
 * Current columns and rows of the window. A stream's own `columns` and `rows` are outdated after a
 * resize, until the next turn of the event loop; lines drawn until then could not be erased.
 */
export const windowOf = (output: Output): { readonly columns: number; readonly rows: number } => {
  const [columns, rows] = output.getWindowSize?.() ?? [output.columns, output.rows];
  // A terminal without a size reports zeros.
  return { columns: columns || 80, rows: rows || 24 };
};

/** Ignores write errors, so that a closed pipe (`etl status | head`) does not end the work. */
const outliveReader = (stream: NodeJS.WriteStream): Output => {
  stream.on('error', () => undefined);
  return stream;
};

/** All that is written to stderr is for people. */
const namingAsCalled = (stream: Output): Output =>
  Object.create(stream, {
    write: { value: (...[text, done]: Parameters<Output['write']>) => stream.write(asCalled(text), done) },
  });

export const processIo = (): Io => ({
  get stdin() {
    return process.stdin;
  },
  stdout: outliveReader(process.stdout),
  stderr: namingAsCalled(outliveReader(process.stderr)),
  env: process.env,
  workingDirectory: process.cwd(),
  clock: Date.now,
});
