// Decides from an error's code whether to retry.

import { EtlError, codeOf } from '../core/errors/errors.ts';

/** server: wait for the server and continue · chunk: repeat the transaction · never: stop. */
export type Retry = 'server' | 'chunk' | 'never';

/** What to do after an error with this code. Codes that are not listed stop the run. */
export const retryByCode: Readonly<Record<string, Retry>> = {
  // Node: the connection
  ECONNREFUSED: 'server', // nothing listens: the server is down or restarting
  ECONNRESET: 'server', // the peer closed the connection
  EPIPE: 'server', // written to a connection that the peer closed
  ETIMEDOUT: 'server', // no answer
  EHOSTUNREACH: 'server', // the route is gone for now
  ENETUNREACH: 'server', // the network is gone for now
  ENOTFOUND: 'server', // names vanish while a failover moves them
  EAI_AGAIN: 'server', // the name server does not answer now
  UNFIT_SESSION: 'server', // no host matches target_session_attrs now: a failover is under way
  // SQLSTATE: the session is over, the data may be
  '08000': 'server', // connection_exception
  '08001': 'server', // sqlclient_unable_to_establish_sqlconnection
  '08003': 'server', // connection_does_not_exist
  '08006': 'server', // connection_failure
  '08P01': 'server', // protocol_violation: PgBouncer lost the server, or has no free connection to it
  '57P01': 'server', // admin_shutdown: pg_terminate_backend, fast stop
  '57P02': 'server', // crash_shutdown: another backend crashed, so all sessions were ended
  '57P03': 'server', // cannot_connect_now: starting up, shutting down, in recovery
  '57P05': 'server', // idle_session_timeout: only the session was ended
  '25P03': 'server', // idle_in_transaction_session_timeout: only the session was ended
  '25P04': 'server', // transaction_timeout: only the session was ended
  '53300': 'server', // too_many_connections: others will close theirs
  // SQLSTATE: the transaction failed, the session lives
  '40001': 'chunk', // serialization_failure: a concurrent update won
  '40P01': 'chunk', // deadlock_detected: we were the victim
  '55P03': 'chunk', // lock_not_available: lock_timeout expired
  // SQLSTATE: trying again would fail again
  '53100': 'never', // disk_full: somebody must make room
  '53200': 'never', // out_of_memory: settings must change
  '57014': 'never', // query_canceled: by a person or by statement_timeout
  // our own codes
  ETL_CONNECT: 'server', // could not connect, for one of the reasons above
  ETL_SERVER_LOST: 'server', // the connection ended during a query; the driver's own error has no code
  ETL_QUEUE_CONNECT: 'server', // Redis is not reachable
  ETL_QUEUE_LOST: 'server', // Redis was emptied: the jobs are added again, from the ledger
  ETL_LOCK_LOST: 'server', // the lock is taken again over a new connection
  ETL_EPOCH_CHANGED: 'server', // the server crashed and is up again
};

/** SQLSTATEs of a statement that waited too long, or was the victim of a deadlock. */
export const lockStates: ReadonlySet<string> = new Set(['55P03', '40P01', '57014']);

export const retryOf = (error: unknown): Retry => {
  // The cause decides: waiting does not help if it is permanent, such as refused TLS.
  if (error instanceof EtlError && error.code === 'ETL_CONNECT')
    return retryByCode[codeOf(error.cause) ?? ''] ?? 'never';
  return retryByCode[codeOf(error) ?? ''] ?? 'never';
};

/**
 * True if the server may have refused a record's value: class 22 (data), 23 (constraints), P0001
 * (`raise`), 54000 (too long), 54001 (nested too deep). Class 42 is about statements, but input
 * functions such as jsonpath's raise it for values, too; load-carefully.ts tells the difference.
 */
export const mayBeDataRefusal = (error: unknown): boolean =>
  /^(?:22|23|42|P0001|54000|54001)/.test(codeOf(error) ?? '');
