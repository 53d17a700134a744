// A few read-only connections for the page: opened on demand, reused, closed when idle.

import { EtlError } from '../core/errors/errors.ts';
import { createTurns } from '../core/turns.ts';
import { schemaVersions } from './bookkeeping/migrate.ts';
import { readOnlyPlainTables, readTrust, refuseStrange } from './bookkeeping/trust.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeClient, destroyClient, lossOf, openClient, type Client } from './client.ts';
import { createIdle } from './idle-clients.ts';
import { forQuestions, type ServerAddress } from './connect/address.ts';
import { withPermission } from './connect/server-error.ts';

interface ReadPool {
  readonly read: <T>(read: (client: Client) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

interface ReadPoolOptions {
  readonly address: () => Promise<ServerAddress>;
  readonly connectionsMax: number;
  readonly waitingMax: number;
  readonly statementMsMax: number;
  readonly idleMs: number;
}

/**
 * Opens a read-only connection, without JIT and parallel workers: starting them would take longer
 * than our statements.
 */
const openReader = async (address: ServerAddress, statementMs: number): Promise<Client> => {
  const client = await openClient(address);
  try {
    await client.query(`set default_transaction_read_only = on; set statement_timeout = ${statementMs};
      set lock_timeout = ${statementMs}; set max_parallel_workers_per_gather = 0; set jit = off`);
    await readOnlyPlainTables(client);
    const trust = await readTrust(client);
    refuseStrange(trust);
    const { found, known } = await schemaVersions(client, trust);
    if (found > 0 && found < known) throw new EtlError('ETL_SCHEMA_OLDER', { found, known });
    return client;
  } catch (error) {
    await closeClient(client);
    throw withPermission(address, lossOf(client, address, error));
  }
};

/** A server that was restarted, or lost without a word, does not answer on old connections. */
const idleAnswerMs = 1_000;

const answers = async (client: Client): Promise<boolean> => {
  const timer = new AbortController();
  const late = sleep(idleAnswerMs, false, { signal: timer.signal }).catch(() => false);
  const asked = client.query('select').then(
    () => true,
    () => false,
  );
  const isAnswered = await Promise.race([asked, late]);
  timer.abort();
  if (!isAnswered) destroyClient(client, new Error('no answer'));
  return isAnswered;
};

export const createReadPool = (options: ReadPoolOptions): ReadPool => {
  const inTurn = createTurns(options.connectionsMax, (waiting) => {
    if (waiting >= options.waitingMax) throw new EtlError('ETL_PAGE_BUSY');
  });
  const idle = createIdle(options.idleMs);
  let found: ServerAddress | undefined;

  const use = async <T>(read: (client: Client) => Promise<T>): Promise<T> => {
    const address = (found ??= forQuestions(await options.address()));
    let client = idle.pop();
    if (client !== undefined && !(await answers(client))) {
      idle.drop();
      client = undefined;
    }
    client ??= await openReader(address, options.statementMsMax);
    try {
      const result = await read(client);
      await idle.push(client);
      return result;
    } catch (error) {
      // After an error, the connection's state is unknown.
      await closeClient(client);
      throw withPermission(address, lossOf(client, address, error));
    }
  };
  return {
    read: (read) => inTurn(() => use(read)),
    close: idle.close,
  };
};
