// Sessions of psql, one after the other or side by side. Where there is no psql, a small program takes its place: it
// hands the bytes of a file to COPY as they are.

import { fileURLToPath } from 'node:url';
import { libpqEnvironment } from './experiments/connect.ts';
import { runProgram } from './measure.ts';

/** What a session does: a statement, `\copy` of a file, or of what a program prints, into a table, or of a query's rows into a file. */
export type SessionStep =
  | { readonly sql: string }
  | { readonly copy: string; readonly options?: string; readonly file: string }
  | { readonly copy: string; readonly options?: string; readonly program: string }
  | { readonly query: string; readonly options?: string; readonly to: string };

/** Steps in order. */
export type Session = readonly SessionStep[];

export interface SessionRunner {
  /** For the report. */
  readonly description: string;
  /** Runs stages one after the other; the sessions of a stage side by side. */
  readonly run: (stages: readonly (readonly Session[])[]) => Promise<void>;
}

const copyOptions = 'format csv, header';

const scriptLine = (step: SessionStep): string => {
  if ('sql' in step) return `${step.sql.trim()};`;
  if ('query' in step) return `\\copy (${step.query}) to '${step.to}' with (${step.options ?? copyOptions})`;
  const { copy, options = copyOptions } = step;
  const from = 'file' in step ? `'${step.file}'` : `program '${step.program}'`;
  return `\\copy ${copy} from ${from} with (${options})`;
};

const standIn = fileURLToPath(new URL('programs/session.mjs', import.meta.url));

const psqlVersion = async (): Promise<string | undefined> => {
  try {
    return (await runProgram('psql', ['--version']))[0];
  } catch {
    return undefined;
  }
};

/** psql of this machine, or its replacement. */
export const openSessions = async (url: string): Promise<SessionRunner> => {
  const version = await psqlVersion();
  const runSession = async (session: Session): Promise<void> => {
    if (version === undefined) {
      await runProgram(process.execPath, [standIn], {
        env: { DATABASE_URL: url },
        input: JSON.stringify(session),
      });
      return;
    }
    await runProgram('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', '-'], {
      env: libpqEnvironment(url),
      input: session.map(scriptLine).join('\n'),
    });
  };
  return {
    description:
      version ?? 'no psql on this machine: a Node program hands the bytes to COPY, 1 MiB at a time',
    run: async (stages) => {
      for (const stage of stages) await Promise.all(stage.map(runSession));
    },
  };
};
