// Options of workers and of functions that enqueue runs. Types alone: a host's compiler follows no dependency here.

import type { ConnectionOptions } from '../db/connect/connection.ts';
import type { Logger } from '../core/logger.ts';
import type { RedisOptions } from '../queue/redis-address.ts';
import type { Tracer } from '../report/tracer.ts';

/** The database and the queue, as in `RunOptions`. */
export interface SiteOptions {
  readonly databaseUrl?: string;
  readonly connection?: ConnectionOptions;
  readonly redis?: RedisOptions | false;
  readonly logger?: Logger;
  readonly tracer?: Tracer;
}

export interface HealthOptions {
  /** 0 takes any that is free. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Names in the Host header for which /metrics answers, beside addresses and names without a dot. Default: none. */
  readonly hosts?: readonly string[];
}
