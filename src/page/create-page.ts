// createPage: the page as a fetch handler with a few read-only connections of its own.

import { createReadPool } from '../db/read-pool.ts';
import { EtlError } from '../core/errors/errors.ts';
import { silentLogger } from '../core/logger.ts';
import { readQueues } from '../worker/queues.ts';
import { findSite, type FoundSite } from '../worker/find-site.ts';
import { createAccess, newToken, type Access } from './access.ts';
import { createApp } from './app.ts';
import { createBoard, hasBoard } from './board.ts';
import { createControl, type Control } from './control.ts';
import { createLive } from './live.ts';
import type { EtlPage, PageOptions } from './options.ts';
import { readTraceUrl } from './parts/trace-link.ts';

/** Enough for several visitors, because queries take milliseconds. */
const connectionsMax = 3;
const waitingMax = 100;
/** Statement timeout: a slow statement must not delay the database server's other work. */
const statementMsMax = 10_000;
const idleMs = 30_000;

const tokenCharsMin = 16;

const usage = (problem: string, hint: string): EtlError => new EtlError('ETL_USAGE', { problem, hint });

const checkBase = (basePath: string): string => {
  const base = basePath.replace(/\/+$/, '');
  if (base === '' || /^(\/[\w.~-]+)+$/.test(base)) return base;
  throw usage(`basePath ${JSON.stringify(basePath)} is not a path`, "Give a path such as '/etl'.");
};

const checkToken = (token: string | false | undefined): string | null => {
  if (token === false) return null;
  if (token === undefined) return newToken();
  if (token.length >= tokenCharsMin && /^[\x21-\x7e]+$/.test(token)) return token;
  throw usage(
    `the token must have at least ${tokenCharsMin} visible ASCII characters`,
    'Without the option `token`, a random token is used.',
  );
};

const controlOf = (options: PageOptions, access: Access): Control | undefined => {
  const { databaseUrl, connection, redis, logger, tracer, control = false } = options;
  if (control === false) return undefined;
  const site = { databaseUrl, connection, redis, logger, tracer };
  return createControl({ site, access, control: control === true ? {} : control });
};

/**
 * Creates the web page of a database, as a handler for an existing HTTP service. The first request
 * resolves the server, as runPipeline does. Errors: ETL_USAGE.
 */
export const createPage = (options: PageOptions = {}): EtlPage => {
  const { basePath = '/', logger = silentLogger } = options;
  const base = checkBase(basePath);
  const token = checkToken(options.token);
  const traceLink = readTraceUrl(options.traceUrl);
  let site: FoundSite | undefined;
  const pool = createReadPool({
    address: async () => (site ??= await findSite(options)).address,
    connectionsMax,
    waitingMax,
    statementMsMax,
    idleMs,
  });
  const live = createLive();
  const access = createAccess(token, base, options);
  const control = controlOf(options, access);
  const board = hasBoard(options.board)
    ? createBoard({
        base,
        isReadOnly: control === undefined,
        logger,
        read: pool.read,
        backend: () => site!.backend,
      })
    : undefined;
  const app = createApp({
    base,
    access,
    control,
    board,
    live,
    logger,
    server: () => site?.address.label ?? '',
    withContext: (given, make) =>
      pool.read((client) =>
        // `site` is set: the pool resolves the server before it has a client.
        make({ ...given, client, traceLink, queues: () => readQueues(client, site!.backend, logger) }),
      ),
    read: pool.read,
  });
  return {
    token,
    fetch: async (request, env) => app.fetch(request, env),
    close: async () => {
      live.close();
      await board?.close();
      await pool.close();
    },
  };
};
