// The options of a run: their types, rules and defaults.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { ConnectionOptions } from '../db/connect/connection.ts';
import { EtlError } from '../core/errors/errors.ts';
import { chunkBytesDefault, chunkBytesMax, waitMsDefault, workersMax } from '../core/limits.ts';
import { silentLogger, type Logger } from '../core/logger.ts';
import type { TraceContext } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { Receiver } from '../core/notification.ts';
import type { LoadTimes } from '../core/profile.ts';
import { didYouMean } from '../core/nearest.ts';
import type { RedisOptions } from '../queue/redis-address.ts';
import type { Tracer } from '../report/tracer.ts';

export interface FromWorker {
  /** Undefined for a process that helps with a run. */
  readonly jobId?: string;
  readonly queueName?: string;
  /** The hash that the definition must have with these `params`, or else with the run's own. */
  readonly definition?: { readonly hash: string; readonly params?: RunOptions['params'] };
  /** Continue the unfinished run, even if an earlier run published the same files. */
  readonly resume?: boolean;
  /** Ends the run, once this process has its lock. */
  readonly deadly?: EtlError | undefined;
  readonly notify?: readonly Receiver[];
  readonly onChunk?: (times: LoadTimes) => void;
  readonly parent?: TraceContext | undefined;
}

/** Options of runPipeline. A misspelt or invalid option is refused with ETL_USAGE. */
export interface RunOptions {
  /** Connection string. Default: `connection`, then DATABASE_URL, PG*, the embedded server. */
  readonly databaseUrl?: string;
  /**
   * The server as settings of node-postgres. A run opens one connection per worker, and a few more.
   */
  readonly connection?: ConnectionOptions;
  /**
   * Redis for the queue; false keeps the queue in PostgreSQL. Default: REDIS_URL, and without it
   * PostgreSQL.
   */
  readonly redis?: RedisOptions | false;
  /** Values for the pipeline's `params`: texts, as from a command line, or parsed values. */
  readonly params?: Readonly<Record<string, unknown>>;
  /**
   * Number of loaders that run side by side, each with its own connection. Default: the number of
   * cores.
   */
  readonly workers?: number;
  /** Bytes of a file that one transaction loads. Default: 32 MiB. */
  readonly chunkBytes?: number;
  /**
   * File whose default export is this pipeline. With it, a definition that contains functions is
   * also loaded in threads: each thread imports the file again. Without it, functions run in the
   * caller's thread.
   */
  readonly pipelineFile?: string;
  /**
   * Directory that SQL files are relative to. Default: the working directory; the command line
   * passes the directory of the pipeline file.
   */
  readonly directory?: string;
  /** Directory that source globs are relative to. Default: the working directory. */
  readonly workingDirectory?: string;
  /** Abandon an unfinished run of this pipeline instead of continuing it. */
  readonly fresh?: boolean;
  /**
   * How long to wait for a server that was lost, in milliseconds. If given, the run also waits for
   * a server that it never reached. Default: five minutes.
   */
  readonly waitMs?: number;
  /** Load everything again even if files and definition are those of the last published run. */
  readonly fullRefresh?: boolean;
  /**
   * Files in production to load again, by name or location. Their tables need `changed: 'reload'`
   * or `gone: 'unload'`.
   */
  readonly reload?: readonly string[];
  /**
   * Files whose rows are deleted from production, by name or location. They are not loaded again
   * until they change. Their tables need `changed: 'reload'` or `gone: 'unload'`.
   */
  readonly unload?: readonly string[];
  /**
   * Load the listed files even if they are loaded already. Appended rows of their earlier versions
   * stay, so that equal files add their rows twice. Default: false.
   */
  readonly again?: boolean;
  /** Tables to publish even if they have fewer rows than their `guard` requires. */
  readonly allowShrink?: readonly string[];
  /** Keep the staging tables after publishing, for inspection. */
  readonly keepStaging?: boolean;
  /** Measure where the time goes, for the `profile` of the result. Needs one more connection. */
  readonly profile?: boolean;
  /** Stops the run at once: chunks in flight are rolled back. The next run continues it. */
  readonly signal?: AbortSignal;
  /** Stops the run after the chunks in flight. The next run continues it. */
  readonly drain?: AbortSignal;
  /**
   * Called with each event of the run. If it throws, the run ends with ETL_LISTENER. A promise that
   * it returns is not awaited. Default: none.
   */
  readonly onEvent?: (event: RunEvent) => void;
  /** Receives messages for an operator; a logger of pino fits. Default: nothing is logged. */
  readonly logger?: Logger;
  /** OpenTelemetry tracer for spans of the run and its steps. Default: no spans. */
  readonly tracer?: Tracer;
}

interface Rule {
  readonly what: string;
  readonly holds: (value: unknown) => boolean;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const wholeNumber = (min: number, max: number): Rule => ({
  what: `a whole number from ${min} to ${max}`,
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
});
const listOf = (named: string): Rule => ({
  what: `a list of names of ${named}`,
  holds: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
});
const text: Rule = { what: 'a text', holds: (value) => typeof value === 'string' };
const flag: Rule = { what: 'true or false', holds: (value) => typeof value === 'boolean' };
const object: Rule = { what: 'an object', holds: isObject };
const signal: Rule = { what: 'an AbortSignal', holds: (value) => value instanceof AbortSignal };
const loggerMethods = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];

const rules: Readonly<Record<keyof RunOptions, Rule>> = {
  databaseUrl: text,
  connection: object,
  redis: { what: 'an object, or false', holds: (value) => value === false || isObject(value) },
  params: object,
  workers: wholeNumber(1, workersMax),
  chunkBytes: wholeNumber(1, chunkBytesMax),
  pipelineFile: text,
  directory: text,
  workingDirectory: text,
  fresh: flag,
  waitMs: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  fullRefresh: flag,
  reload: listOf('files'),
  unload: listOf('files'),
  again: flag,
  allowShrink: listOf('tables'),
  keepStaging: flag,
  profile: flag,
  signal,
  drain: signal,
  onEvent: { what: 'a function', holds: (value) => typeof value === 'function' },
  logger: {
    what: `an object with the methods ${loggerMethods.join(', ')}`,
    holds: (value) =>
      isObject(value) && loggerMethods.every((name) => typeof (value as Logger)[name] === 'function'),
  },
  tracer: {
    what: 'an object with the method startSpan',
    holds: (value) => isObject(value) && typeof (value as Tracer).startSpan === 'function',
  },
};

/**
 * Refuses unknown options: a misspelt `databaseURL` would silently mean another server. Messages do
 * not repeat values, because a value may be a password.
 */
const checkOptions = (options: RunOptions): void => {
  const hint = 'docs/reference/library.md describes every option.';
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, name)) {
      const problem = `unknown option \`${name}\`${didYouMean(name, Object.keys(rules))}`;
      throw new EtlError('ETL_USAGE', { problem, hint });
    }
    const { what, holds } = rules[name as keyof RunOptions];
    if (value !== undefined && !holds(value))
      throw new EtlError('ETL_USAGE', { problem: `option \`${name}\` must be ${what}`, hint });
  }
};

/** Errors: ETL_USAGE. */
export const resolveOptions = (options: RunOptions) => {
  checkOptions(options);
  const { signal: abort, ...given } = options;
  return {
    ...given,
    abort,
    params: given.params ?? {},
    workers: given.workers ?? availableParallelism(),
    chunkBytes: given.chunkBytes ?? chunkBytesDefault,
    directory: resolve(given.directory ?? '.'),
    workingDirectory: resolve(given.workingDirectory ?? '.'),
    waitMs: given.waitMs ?? waitMsDefault,
    /** If false, an address that was never reached is reported at once. */
    waitsForFirst: (given.waitMs ?? 0) > 0,
    fresh: given.fresh ?? false,
    fullRefresh: given.fullRefresh ?? false,
    reload: given.reload ?? [],
    unload: given.unload ?? [],
    again: given.again ?? false,
    allowShrink: given.allowShrink ?? [],
    keepStaging: given.keepStaging ?? false,
    profile: given.profile ?? false,
    logger: given.logger ?? silentLogger,
  };
};

export type RunSettings = Readonly<ReturnType<typeof resolveOptions>>;

/**
 * Refuses unknown tables: a misspelt name in `allowShrink` would allow nothing. Errors: ETL_USAGE.
 */
export const refuseUnknownTables = (
  known: readonly string[],
  named: readonly string[] = [],
  option = 'allowShrink',
): void => {
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const problem = `${option} names \`${unknown}\`, which is not a table of the pipeline${didYouMean(unknown, known)}`;
  throw new EtlError('ETL_USAGE', { problem, hint: `The pipeline has ${known.join(', ')}.` });
};
