// Connection settings that a host program passes to the library.

/** Server and user, named as in node-postgres. PG* variables supply missing settings. */
export interface ConnectionOptions {
  /** URL or `keyword=value` pairs; overrules the other settings. */
  readonly connectionString?: string;
  /**
   * Host name, address, or directory of a Unix socket. Required unless PGHOST, PGHOSTADDR or
   * PGSERVICE is set.
   */
  readonly host?: string;
  /** Default: PGPORT, otherwise 5432. */
  readonly port?: number;
  /** Name of the database. Default: PGDATABASE, otherwise the name of the user. */
  readonly database?: string;
  /** Role to connect as. Default: PGUSER, otherwise the user of the operating system. */
  readonly user?: string;
  /**
   * A function is called before each connection, for passwords that expire. With a function, no
   * loading threads are used.
   */
  readonly password?: string | (() => string | Promise<string>);
  /** true, or options of `tls.connect`: ca, cert, key, rejectUnauthorized, servername … */
  readonly ssl?: boolean | object;
  /** Command-line options for the server process: `-c work_mem=64MB`. */
  readonly options?: string;
  /** Longest wait for a connection, in milliseconds. Default: PGCONNECT_TIMEOUT. */
  readonly connectionTimeoutMillis?: number;
}
