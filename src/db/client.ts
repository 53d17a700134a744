// Opens, uses and closes connections to the server.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf, EtlError, messageOf } from '../core/errors/errors.ts';
import { closeTimeoutMs } from '../core/limits.ts';
import { askTogether } from './ask-together.ts';
import type { ServerAddress } from './connect/address.ts';
import { labelOf, type ServerConfig } from './connect/config.ts';
import { connectError } from './connect/connect-error.ts';
import { openFirst } from './connect/hosts.ts';
import { advisoryKeys } from './connect/advisory-keys.ts';
import { PgClient } from './connect/pg.ts';
import { keepsSessions } from './connect/pooler.ts';
import { retryOf } from './retry.ts';
import { withPermission } from './connect/server-error.ts';
import { inline, quoteName, searchPath, type Query } from './sql.ts';
import { watchClient } from './connect/watchdog.ts';

export type Client = PgClient;
export type QueryResult = pg.QueryResult;

const lost = new WeakMap<pg.Client, Error>();

export const isLost = (client: Client): boolean => lost.has(client);

/**
 * Finds a code for an error without one, which the driver raises if the connection ends while it is
 * being opened: the code of the server's last error (test/fault/waiting.test.ts), otherwise a
 * network code: a proxy may accept connections for a server that is down
 * (test/fault/server-kill.test.ts).
 */
const withNetworkCode = (client: pg.Client, cause: unknown, hasEnded: boolean): unknown => {
  if (!(cause instanceof Error) || codeOf(cause) !== undefined) return cause;
  const said = lost.get(client);
  if (codeOf(said) !== undefined) return said;
  if (client.connection.stream.errored === cause) return Object.assign(cause, { code: 'ETIMEDOUT' });
  return hasEnded ? Object.assign(cause, { code: 'ECONNRESET' }) : cause;
};

const openOn = async (address: ServerAddress): Promise<Client> => {
  const start = { name: address.sessionName, schemas: [], waitsBehindPooler: true };
  const client = new PgClient(address.config, start);
  client.on('error', (error) => lost.set(client, error));
  // From now on, our watchdog checks the connection.
  client.once('connect', () => watchClient(client));
  let hasEnded = false;
  client.connection.once('end', () => (hasEnded = true));
  try {
    return await client.connect();
  } catch (cause) {
    const coded = withNetworkCode(client, cause, hasEnded);
    await closeClient(client);
    throw connectError(coded, address, client);
  }
};

/** Refuses a pooler that gives a session to several clients in turn, before anything is set in it. */
const refuseSharedSessions = async (
  client: Client,
  there: ServerAddress,
  known: ServerConfig,
): Promise<void> => {
  if (known.keepsSessions) return;
  const other = await openOn(there);
  try {
    if (!(await keepsSessions(client, other))) throw new EtlError('ETL_POOLER', { server: there.label });
    known.keepsSessions = true;
  } finally {
    await closeClient(other);
  }
};

/**
 * Opens a connection to the first usable host. Errors: ETL_CONNECT, ETL_CONNECT_AUTH,
 * ETL_CONNECT_DATABASE, ETL_CONNECT_TLS, ETL_PERMISSION, ETL_POOLER.
 */
export const openClient = (address: ServerAddress): Promise<Client> =>
  openFirst(address.config, async (config) => {
    const label = address.config.hosts.length === 1 ? address.label : labelOf(config);
    const there = { ...address, config, label };
    const client = await openOn(there);
    if (!client.isPooled) return client;
    try {
      await refuseSharedSessions(client, there, address.config);
      await client.keepSettings();
      return client;
    } catch (error) {
      await closeClient(client);
      throw error;
    }
  });

export const closeClient = async (client: Client): Promise<void> => {
  if (!lost.has(client))
    await Promise.race([
      client.end().catch(() => undefined),
      sleep(closeTimeoutMs, undefined, { ref: false }),
    ]);
  // A vanished server never answers the closing message.
  const { stream } = client.connection;
  stream.destroy();
  if (!stream.closed) await once(stream, 'close').catch(() => undefined);
};

/** Cuts the connection: the server rolls back, and the running query's promise is rejected. */
export const destroyClient = (client: Client, reason: Error): void => {
  client.connection.stream.destroy(reason);
};

/** Converts an error of a lost connection to ETL_SERVER_LOST, with the server's reason if known. */
export const lossOf = (client: Client, { label }: ServerAddress, error: unknown): unknown => {
  if (error instanceof EtlError || !(lost.has(client) || retryOf(error) === 'server')) return error;
  const cause = codeOf(error) === undefined ? (lost.get(client) ?? error) : error;
  // Citus passes on libpq's messages, which have several lines.
  const message = messageOf(cause).replaceAll(/\s*\n\s*/g, ' ');
  const problem = codeOf(cause) === undefined ? 'the connection ended' : `${codeOf(cause)} ${message}`;
  return new EtlError('ETL_SERVER_LOST', { server: label, problem }, { cause });
};

export const whenLost = (client: Client, { label }: ServerAddress): Promise<never> => {
  const lossPromise = new Promise<never>((_, reject) => {
    client.once('error', (cause) =>
      reject(new EtlError('ETL_SERVER_LOST', { server: label, problem: messageOf(cause) }, { cause })),
    );
  });
  lossPromise.catch(() => undefined);
  return lossPromise;
};

/**
 * Opens a connection for `use`, and closes it afterwards, unless the address keeps idle ones: after
 * an error, the connection's state is unknown. Aborting `signal` cuts the connection.
 * Errors: those of `openClient` and `use`; ETL_PERMISSION; ETL_SERVER_LOST.
 */
export const withClient = async <T>(
  address: ServerAddress,
  use: (client: Client) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  const client = address.idle?.pop() ?? (await openClient(address));
  let close = closeClient;
  const abort = (): void => destroyClient(client, new Error('aborted'));
  signal?.addEventListener('abort', abort);
  if (signal?.aborted === true) abort();
  try {
    const used = await use(client);
    close = address.idle?.push ?? closeClient;
    return used;
  } catch (error) {
    throw withPermission(address, lossOf(client, address, error));
  } finally {
    signal?.removeEventListener('abort', abort);
    await close(client);
  }
};

export const runQuery = (client: Client, { text, values = [] }: Query): Promise<QueryResult> =>
  client.query(text, [...values]);

export const rowsOf = async <Row>(client: Client, query: Query): Promise<Row[]> =>
  (await runQuery(client, query)).rows;

/** Uses a prepared statement: planning takes most of the time of large catalogue queries. */
export const askPrepared = <Row extends pg.QueryResultRow>(
  client: Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult<Row>> =>
  client.query<Row>({
    name: createHash('sha256').update(text).digest('base64url'),
    text,
    values: [...values],
  });

/** True if a table or view with this name exists. `name` is SQL: quoted where necessary. */
export const isThere = async (client: Client, name: string): Promise<boolean> =>
  (await client.query('select to_regclass($1) is not null as there', [name])).rows[0].there;

/** Runs statements in one round trip. Stops at the first error. */
export const runTogether = async (
  client: Client,
  statements: readonly Query[],
): Promise<readonly QueryResult[]> => {
  const results: unknown = await client.query(statements.map(inline).join(';\n'));
  return Array.isArray(results) ? results : [results as QueryResult];
};

/**
 * Creates the schema; returns false if it exists. SQL's `if not exists` alone is not enough: it
 * fails when two transactions create the schema at once (test/fault/processes-at-once.test.ts).
 */
export const ensureSchema = async (client: Client, schema: string): Promise<boolean> => {
  const hasSchema = async (): Promise<boolean> =>
    // to_regnamespace() has a cache that does not see what others committed while we waited.
    (await client.query('select exists (select from pg_namespace where nspname = $1) as there', [schema]))
      .rows[0].there;
  if (await hasSchema()) return false;
  const [, isMade] = await askTogether(client, () => [
    client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.createSchema]),
    hasSchema(),
    client.query(`create schema if not exists ${quoteName(schema)}`),
  ]);
  return !isMade;
};

export const commit: Query = { text: 'commit' };

interface TransactionMessages<T> {
  readonly first?: readonly Query[];
  /** Called instead of `commit`; must commit the transaction itself. */
  readonly end?: (result: T) => Promise<unknown>;
}

const nested = {
  begin: { text: 'savepoint nested' },
  commit: { text: 'release savepoint nested' },
  rollback: 'rollback to savepoint nested; release savepoint nested',
};
/**
 * Statements of a transaction. Sessions are set to `read committed`: after waiting for a lock, a
 * query must see what the lock's last holder committed.
 */
const outer = { begin: { text: 'begin' }, commit, rollback: 'rollback' };

const inTransaction = new WeakSet<Client>();

/**
 * Runs `work` in a transaction, or in a savepoint of the open transaction. `work` sends `beginning`
 * and `ending` itself, to save round trips.
 */
export const withOwnTransaction = async <T>(
  client: Client,
  work: (beginning: Query, ending: Query) => Promise<T>,
): Promise<T> => {
  const isNested = inTransaction.has(client);
  const statements = isNested ? nested : outer;
  inTransaction.add(client);
  try {
    return await work(statements.begin, statements.commit);
  } catch (error) {
    if (!lost.has(client)) await client.query(statements.rollback).catch(() => undefined);
    throw error;
  } finally {
    if (!isNested) inTransaction.delete(client);
  }
};

export const withTransaction = <T>(
  client: Client,
  work: (results: readonly QueryResult[]) => Promise<T>,
  { first = [], end }: TransactionMessages<T> = {},
): Promise<T> =>
  withOwnTransaction(client, async (beginning, ending) => {
    const [, ...results] = await runTogether(client, [beginning, ...first]);
    const result = await work(results);
    await (end?.(result) ?? runTogether(client, [ending]));
    return result;
  });

const undo = new Error('rolled back on purpose');

export const withRollback = async <T>(client: Client, work: () => Promise<T>): Promise<T> => {
  const results: T[] = [];
  await withTransaction(client, async () => {
    results.push(await work());
    throw undo;
  }).catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return results[0]!;
};

export const setPath = (schemas: readonly string[]): Query => ({
  text: `set local search_path = ${searchPath(schemas)}`,
});

/**
 * Runs `work` with these schemas on the search path, for an author's SQL and for triggers. After an
 * error, the caller's rollback restores the path. Our own statements in `work` must qualify
 * functions, unless the argument types match the function in pg_catalog exactly.
 */
export const withPath = async <T>(
  client: Client,
  schemas: readonly string[],
  work: () => Promise<T>,
): Promise<T> => {
  await runQuery(client, setPath(schemas));
  const result = await work();
  await runQuery(client, setPath([]));
  return result;
};
