// What the command line knows of the outside world, as one argument: streams, environment, directory, clock.

/** The part of a terminal or pipe that is written to. */
export interface Output {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Columns and rows asked of the terminal itself. */
  getWindowSize?(): [number, number];
}

/** A terminal that can be read from. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export interface Io {
  /** Undefined: nobody is there to answer. */
  readonly stdin?: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Changed only by reading `.env`, which adds what is absent. */
  readonly env: NodeJS.ProcessEnv;
  readonly workingDirectory: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Width to fit text to; a pipe has no width of its own, and cutting text there would lose it. */
export const widthOf = (output: Output): number =>
  output.isTTY ? Math.max(20, output.columns ?? 80) : Number.POSITIVE_INFINITY;

/** Writes a text and waits until it was taken, so that a slow reader holds the writer up; false when the reader is gone. */
export const written = (output: Output, text: string): Promise<boolean> =>
  new Promise((resolve) => output.write(text, (error) => resolve(!error)));

/**
 * Columns and rows of the window at this very moment: `columns` and `rows` of a stream are those before a resize until the
 * event loop comes round, and what is drawn meanwhile could not be erased.
 */
export const windowOf = (output: Output): { readonly columns: number; readonly rows: number } => {
  const [columns, rows] = output.getWindowSize?.() ?? [output.columns, output.rows];
  // A terminal without a size reports zeros.
  return { columns: columns || 80, rows: rows || 24 };
};

/** A reader that went away (`etl status | head`) ends the output, not the work. */
const outliveReader = (stream: NodeJS.WriteStream): Output => {
  stream.on('error', () => undefined);
  return stream;
};

/** The process's own streams, environment, directory and clock. */
export const processIo = (): Io => ({
  get stdin() {
    return process.stdin;
  },
  stdout: outliveReader(process.stdout),
  stderr: outliveReader(process.stderr),
  env: process.env,
  workingDirectory: process.cwd(),
  clock: Date.now,
});
