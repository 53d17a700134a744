// What to do about an error, decided from its code alone: one table, with the reason at each line's end.

import { EtlError, codeOf } from '../core/errors/errors.ts';

/** server: wait until it answers, look at the epoch, go on · chunk: the same transaction again · never: stop. */
export type Retry = 'server' | 'chunk' | 'never';

/** Node's error codes, SQLSTATEs, and our own codes. What is not here stops the run at once. */
export const retryByCode: Readonly<Record<string, Retry>> = {
  // Node: the connection
  ECONNREFUSED: 'server', // nothing listens: the server is down or restarting
  ECONNRESET: 'server', // the peer closed without a word
  EPIPE: 'server', // written to a connection that the peer closed
  ETIMEDOUT: 'server', // no answer
  EHOSTUNREACH: 'server', // the route is gone for now
  ENETUNREACH: 'server', // the network is gone for now
  ENOTFOUND: 'server', // names vanish while a failover moves them
  EAI_AGAIN: 'server', // the name server does not answer now
  UNFIT_SESSION: 'server', // target_session_attrs wants a primary, and no host is one now: a failover is under way
  // SQLSTATE: the session is over, the data may be
  '08000': 'server', // connection_exception
  '08001': 'server', // sqlclient_unable_to_establish_sqlconnection
  '08003': 'server', // connection_does_not_exist
  '08006': 'server', // connection_failure
  '08P01': 'server', // protocol_violation: what PgBouncer says when it has lost the server, or has no connection to it left
  '57P01': 'server', // admin_shutdown: pg_terminate_backend, fast stop
  '57P02': 'server', // crash_shutdown: another backend crashed, all are ended
  '57P03': 'server', // cannot_connect_now: starting up, shutting down, in recovery
  '57P05': 'server', // idle_session_timeout: the session is gone, nothing else is
  '25P03': 'server', // idle_in_transaction_session_timeout: likewise
  '25P04': 'server', // transaction_timeout: likewise
  '53300': 'server', // too_many_connections: others will go
  // SQLSTATE: the transaction is over, the session is not
  '40001': 'chunk', // serialization_failure: a concurrent update won
  '40P01': 'chunk', // deadlock_detected: we were the victim
  '55P03': 'chunk', // lock_not_available: lock_timeout
  // SQLSTATE: trying again would fail again
  '53100': 'never', // disk_full: somebody must make room
  '53200': 'never', // out_of_memory: settings must change
  '57014': 'never', // query_canceled: a person or statement_timeout wanted it
  // ours
  ETL_CONNECT: 'server', // could not be opened, for one of the reasons above
  ETL_SERVER_LOST: 'server', // a connection that ended under a query; the driver's own error for it has no code
  ETL_QUEUE_CONNECT: 'server', // Redis is away: waited for like PostgreSQL
  ETL_QUEUE_LOST: 'server', // or it was emptied: the ledger says which jobs to put there again
  ETL_LOCK_LOST: 'server', // taken again over a new connection
  ETL_EPOCH_CHANGED: 'server', // the server crashed and is back already
};

/** The retry class of anything thrown. */
export const retryOf = (error: unknown): Retry => {
  // A connection that could not be opened for good (no such file, TLS refused) is not worth waiting for.
  if (error instanceof EtlError && error.code === 'ETL_CONNECT')
    return retryByCode[codeOf(error.cause) ?? ''] ?? 'never';
  return retryByCode[codeOf(error) ?? ''] ?? 'never';
};

/**
 * True when the server may have refused a value, so that a record is at fault and not the session or the disk: class 22 data
 * exception, class 23 constraint violation, P0001 `raise` in a function of somebody's own; of the limits of class 54 those
 * that a value can break: 54000 a row that fits on no page, a text too long for its type; 54001 nesting too deep. Class 42 is
 * about statements, but also what the input functions of tsquery, jsonpath and regclass say of a text: whether a statement
 * without a record is also refused shows that (load-carefully.ts).
 */
export const mayBeDataRefusal = (error: unknown): boolean =>
  /^(?:22|23|42|P0001|54000|54001)/.test(codeOf(error) ?? '');
