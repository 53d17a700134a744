// Opens, uses and closes connections. Whoever needs one gets it for the length of a function.

import pg from 'pg';
import { codeOf, EtlError, messageOf } from '../errors.ts';
import type { ServerAddress } from './address.ts';
import { advisoryKeys } from './advisory-lock.ts';
import { quoteName, type Query } from './sql.ts';

export type Client = pg.Client;

const networkProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'no answer in time',
  ECONNRESET: 'the connection was closed while opening',
  '57P03': 'the server is starting up or shutting down',
  '53300': 'the server has no connection slot left',
};

const connectHint = 'Check host and port in DATABASE_URL (or PGHOST, PGPORT), and that the server runs.';

/** Turns what node-postgres throws while connecting into one of our errors, by code. */
const connectError = (cause: unknown, { label }: ServerAddress, client: pg.Client): EtlError => {
  const code = codeOf(cause) ?? '';
  const details = { server: label, user: client.user, database: client.database };
  if (code === '28P01' || code === '28000')
    return new EtlError('ETL_CONNECT_AUTH', { ...details, problem: `${code} ${messageOf(cause)}` }, { cause });
  if (code === '3D000') return new EtlError('ETL_CONNECT_DATABASE', details, { cause });
  const known = networkProblems[code];
  const problem = known === undefined ? messageOf(cause) : `${known} (${code})`;
  return new EtlError('ETL_CONNECT', { ...details, problem, hint: connectHint }, { cause });
};

/**
 * Opens a connection. The caller closes it with `closeClient`.
 *
 * A killed backend rejects the running query and also emits 'error'; the listener keeps the second from ending the
 * process. Errors: ETL_CONNECT, ETL_CONNECT_AUTH, ETL_CONNECT_DATABASE.
 */
export const openClient = async (address: ServerAddress): Promise<Client> => {
  const client = new pg.Client(address.config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (cause) {
    await closeClient(client);
    throw connectError(cause, address, client);
  }
};

/** Closes a connection; one that is already gone is closed, too. */
export const closeClient = async (client: Client): Promise<void> => {
  await client.end().catch(() => undefined);
};

/** Opens a connection for the length of `use`. */
export const withClient = async <T>(
  address: ServerAddress,
  use: (client: Client) => Promise<T>,
): Promise<T> => {
  const client = await openClient(address);
  try {
    return await use(client);
  } finally {
    await closeClient(client);
  }
};

/** Runs a statement that was made as data. */
export const runQuery = (client: Client, { text, values = [] }: Query): Promise<pg.QueryResult> =>
  client.query(text, [...values]);

/**
 * Makes a schema that is not there, inside the caller's transaction. `create schema if not exists` alone fails when two
 * transactions do it at once (test/integration/twenty-processes.test.ts).
 */
export const ensureSchema = async (client: Client, schema: string): Promise<void> => {
  const isThere = async (): Promise<boolean> =>
    (await client.query('select to_regnamespace($1) is not null as there', [quoteName(schema)])).rows[0].there;
  if (await isThere()) return;
  await client.query('select pg_advisory_xact_lock($1, $2)', [...advisoryKeys.createSchema]);
  if (!(await isThere())) await client.query(`create schema ${quoteName(schema)}`);
};

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export const withTransaction = async <T>(client: Client, work: () => Promise<T>): Promise<T> => {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // A lost connection cannot roll back, and need not: the server does.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
};
