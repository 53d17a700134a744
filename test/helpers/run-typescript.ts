// A TypeScript file as a process that must end by itself; ended by its own pid when it does not.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('run-typescript.mjs', import.meta.url));
/** In a run of the tests, the compiled one (compiled-threads.ts). */
export const library = new URL('../../src/index.ts', import.meta.url).href;

/** Arguments for Node that run a TypeScript file; one that imports `sluice` gets this library. */
export const typeScriptArgs = (file: string, args: readonly string[], sluice = ''): string[] => [
  runner,
  sluice,
  file,
  ...args,
];

const etlHere = fileURLToPath(new URL('etl-here.mjs', import.meta.url));

/** Arguments for Node that run `etl`, compiled like the library: from the sources it takes seconds to start. */
export const etlArgs = (args: readonly string[]): string[] => [
  etlHere,
  new URL(library.endsWith('.ts') ? 'cli/main.ts' : 'cli/main.js', library).href,
  ...args,
];

/** A process that still runs after this has left something open: the longest of them is done within seconds. */
const endTimeoutMs = 150_000;

export interface EndedByItself {
  /** Undefined when it had to be ended. */
  readonly exit: number | undefined;
  readonly out: string;
  readonly err: string;
}

/** Runs `file` with these arguments; `env` is added to an environment that names no server. */
export const runTypeScript = (
  file: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<EndedByItself> =>
  new Promise((resolve) => {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:PG|ETL_|VITEST|NODE_OPTIONS$|DATABASE_URL$)/.test(name),
    );
    execFile(
      process.execPath,
      typeScriptArgs(file, args, library),
      {
        cwd,
        env: { ...Object.fromEntries(inherited), ...env },
        timeout: endTimeoutMs,
        killSignal: 'SIGKILL',
      },
      (error, out, err) =>
        resolve({ exit: error === null ? 0 : error.killed ? undefined : Number(error.code), out, err }),
    );
  });
