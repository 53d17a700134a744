// Opens, uses and closes connections. A caller gets one for the length of a function.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf, EtlError, messageOf } from '../core/errors/errors.ts';
import { closeTimeoutMs } from '../core/limits.ts';
import type { ServerAddress } from './connect/address.ts';
import { labelOf } from './connect/config.ts';
import { connectError } from './connect/connect-error.ts';
import { openFirst } from './connect/hosts.ts';
import { advisoryKeys } from './connect/advisory-keys.ts';
import { PgClient } from './connect/pg.ts';
import { retryOf } from './retry.ts';
import { withPermission } from './connect/server-error.ts';
import { inline, quoteName, searchPath, type Query } from './sql.ts';
import { watchClient } from './connect/watchdog.ts';

export type Client = PgClient;
export type QueryResult = pg.QueryResult;

/** Connections that ended without being asked to, and why. */
const lost = new WeakMap<pg.Client, Error>();

/**
 * The driver's errors for a connection that gives no answer, or ends, while it is opened have no code: they get what the server
 * said before it ended it (test/fault/waiting.test.ts), else Node's. A proxy in front of a server that is down takes
 * connections and ends them (test/fault/server-kill.test.ts).
 */
const withNetworkCode = (client: pg.Client, cause: unknown, hasEnded: boolean): unknown => {
  if (!(cause instanceof Error) || codeOf(cause) !== undefined) return cause;
  const said = lost.get(client);
  if (codeOf(said) !== undefined) return said;
  if (client.connection.stream.errored === cause) return Object.assign(cause, { code: 'ETIMEDOUT' });
  return hasEnded ? Object.assign(cause, { code: 'ECONNRESET' }) : cause;
};

const openOn = async (address: ServerAddress): Promise<Client> => {
  const client = new PgClient(address.config, { name: address.sessionName, schemas: [] });
  client.on('error', (error) => lost.set(client, error));
  // The driver bounds how long it waits for a session, and nothing after that.
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

/**
 * Opens a connection to the first host that will do. The caller closes it with `closeClient`.
 *
 * A killed backend rejects the running query and also emits 'error'; the listener keeps the second from ending the
 * process, and remembers that the connection is lost: the driver's own error for that has no code.
 * Errors: ETL_CONNECT, ETL_CONNECT_AUTH, ETL_CONNECT_DATABASE, ETL_CONNECT_TLS, ETL_PERMISSION.
 */
export const openClient = (address: ServerAddress): Promise<Client> =>
  openFirst(address.config, (config) => {
    const label = address.config.hosts.length === 1 ? address.label : labelOf(config);
    return openOn({ ...address, config, label });
  });

/** Closes a connection; one that is already gone is closed, too. */
export const closeClient = async (client: Client): Promise<void> => {
  if (!lost.has(client))
    await Promise.race([
      client.end().catch(() => undefined),
      sleep(closeTimeoutMs, undefined, { ref: false }),
    ]);
  // A peer that is gone never answers our goodbye.
  client.connection.stream.destroy();
};

/** Ends a connection at once, whatever it is doing: the server rolls back. Its running query is rejected. */
export const destroyClient = (client: Client, reason: Error): void => {
  client.connection.stream.destroy(reason);
};

/**
 * Errors of a lost connection as ETL_SERVER_LOST; others as they are. If the server gave a reason for ending the session to a
 * statement in progress, that reason is the problem.
 */
export const lossOf = (client: Client, { label }: ServerAddress, error: unknown): unknown => {
  if (error instanceof EtlError || !(lost.has(client) || retryOf(error) === 'server')) return error;
  // The driver's own errors have no code; the server may have given a reason before.
  const cause = codeOf(error) === undefined ? (lost.get(client) ?? error) : error;
  const problem =
    codeOf(cause) === undefined ? 'the connection ended' : `${codeOf(cause)} ${messageOf(cause)}`;
  return new EtlError('ETL_SERVER_LOST', { server: label, problem }, { cause });
};

/** Rejects with ETL_SERVER_LOST when the connection is lost while nobody asks it anything; it may hold a lock. */
export const whenLost = (client: Client, { label }: ServerAddress): Promise<never> => {
  const lossPromise = new Promise<never>((_, reject) => {
    client.once('error', (cause) =>
      reject(new EtlError('ETL_SERVER_LOST', { server: label, problem: messageOf(cause) }, { cause })),
    );
  });
  // The promise rejects for callers that wait for it; nobody has to.
  lossPromise.catch(() => undefined);
  return lossPromise;
};

/**
 * Opens a connection for the length of `use`; an aborted signal ends the connection under it.
 * Errors: those of `use`, ETL_PERMISSION for what the server's was about a privilege, and ETL_SERVER_LOST when the connection
 * was lost under it.
 */
export const withClient = async <T>(
  address: ServerAddress,
  use: (client: Client) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  const client = await openClient(address);
  const abort = (): void => destroyClient(client, new Error('aborted'));
  signal?.addEventListener('abort', abort);
  try {
    return await use(client);
  } catch (error) {
    throw withPermission(address, lossOf(client, address, error));
  } finally {
    signal?.removeEventListener('abort', abort);
    await closeClient(client);
  }
};

/** Runs a statement that was made as data. */
export const runQuery = (client: Client, { text, values = [] }: Query): Promise<QueryResult> =>
  client.query(text, [...values]);

/**
 * Asks what a run asks several times over one connection: planning takes the server most of the time that it has with a large question
 * about its catalogues, and it keeps the plan until a schema is made. With values it plans for each of the first five.
 */
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

/** Whether there is a relation of that name, quoted where it has to be: a database in which nothing ever ran lacks ours. */
export const isThere = async (client: Client, name: string): Promise<boolean> =>
  (await client.query('select to_regclass($1) is not null as there', [name])).rows[0].there;

/** Runs statements in one message, which costs one round trip; none after the first that fails. */
export const runTogether = async (
  client: Client,
  statements: readonly Query[],
): Promise<readonly QueryResult[]> => {
  const results: unknown = await client.query(statements.map(inline).join(';\n'));
  // The driver's types know one statement only.
  return Array.isArray(results) ? results : [results as QueryResult];
};

/**
 * Makes a schema that is not there, inside the caller's transaction; returns whether it did. `create schema if not exists` alone
 * fails when two transactions do it at once (test/fault/processes-at-once.test.ts).
 */
export const ensureSchema = async (client: Client, schema: string): Promise<boolean> => {
  const hasSchema = async (): Promise<boolean> =>
    // Asked of the table: to_regnamespace() answers from a cache that the lock does not refresh.
    (await client.query('select exists (select from pg_namespace where nspname = $1) as there', [schema]))
      .rows[0].there;
  if (await hasSchema()) return false;
  await client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.createSchema]);
  if (await hasSchema()) return false;
  await client.query(`create schema ${quoteName(schema)}`);
  return true;
};

/** The isolation that locks rely on: what is asked after a lock was granted must see what its last holder did. */
const begin: Query = { text: 'begin isolation level read committed' };
export const commit: Query = { text: 'commit' };

interface TransactionMessages<T> {
  /** Go with the message that begins; `work` gets their results. */
  readonly first?: readonly Query[];
  /** Commits, and may do more in the message that does. */
  readonly end?: (result: T) => Promise<unknown>;
}

/** A transaction within another one: its failure undoes what it did, and nothing before it. */
const nested = {
  begin: { text: 'savepoint nested' },
  commit: { text: 'release savepoint nested' },
  rollback: 'rollback to savepoint nested; release savepoint nested',
};
const outer = { begin, commit, rollback: 'rollback' };

/** Connections that are in a transaction. */
const inTransaction = new WeakSet<Client>();

/**
 * Runs `work` in one transaction, or in a part of the one that is open. `work` sends the statement that begins it, as it gets it, and the
 * one that commits, each alone or in one message with others; when it throws, all is rolled back.
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
    // A lost connection cannot roll back, and need not: the server does.
    if (!lost.has(client)) await client.query(statements.rollback).catch(() => undefined);
    throw error;
  } finally {
    if (!isNested) inTransaction.delete(client);
  }
};

/** Runs `work` in one transaction, or in a part of the one that is open: committed when it returns, rolled back when it throws. */
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

/** Thrown to end a transaction that leaves nothing. */
const undo = new Error('rolled back on purpose');

/** Runs `work` in a transaction that is rolled back when it returns, too. */
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

/**
 * Runs `work` with these schemas on the search path: for statements that hold SQL of a pipeline's author, or that fire
 * triggers. Inside the caller's transaction, whose rollback also restores the path. Statements of ours that run in `work`
 * must name the schema of each function and operator whose arguments pg_catalog does not match exactly.
 */
export const withPath = async <T>(
  client: Client,
  schemas: readonly string[],
  work: () => Promise<T>,
): Promise<T> => {
  await client.query(`set local search_path = ${searchPath(schemas)}`);
  const result = await work();
  await client.query(`set local search_path = ${searchPath([])}`);
  return result;
};
