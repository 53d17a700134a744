// Connection settings that a host program passes to the library.

/** Server and user, named as in node-postgres. PG* variables supply missing settings. */
export interface ConnectionOptions {
  /** URL or `keyword=value` pairs; overrules the other settings. */
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
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
  readonly connectionTimeoutMillis?: number;
}
