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
  readonly databaseUrl?: string;
  readonly connection?: ConnectionOptions;
  readonly redis?: RedisOptions | false;
  readonly logger?: Logger;
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
