// Options of workers and of enqueuing. Has only types, so that a host's compiler needs none of our
// dependencies.

import type { ConnectionOptions } from '../db/connect/connection.ts';
import type { Logger } from '../core/logger.ts';
import type { RedisOptions } from '../queue/redis-address.ts';
import type { Tracer } from '../report/tracer.ts';

/** Connections that a host keeps for its calls. */
export interface EtlClient {
  /** Closes the connections. Later calls connect each for itself. */
  readonly close: () => Promise<void>;
}

/** The database and the queue, as in `RunOptions`. */
export interface SiteOptions {
  /** Made by `createClient`; instead of the server and the queue. Default: each call connects. */
  readonly client?: EtlClient;
  /** Connection string. Default: `connection`, then DATABASE_URL, PG*, the embedded server. */
  readonly databaseUrl?: string;
  /** The server as settings of node-postgres, instead of `databaseUrl`. */
  readonly connection?: ConnectionOptions;
  /**
   * Redis for the queue; false keeps the queue in PostgreSQL. Default: REDIS_URL, and without it
   * PostgreSQL.
   */
  readonly redis?: RedisOptions | false;
  /** Receives messages for an operator; a logger of pino fits. Default: nothing is logged. */
  readonly logger?: Logger;
  /** OpenTelemetry tracer for spans. Default: no spans. */
  readonly tracer?: Tracer;
}

export interface HealthOptions {
  /** 0 chooses a free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * Host names for which /metrics answers, beside addresses and names without a dot. Default: none.
   */
  readonly hosts?: readonly string[];
}
