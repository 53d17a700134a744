// Connection settings that a host passes, in addition to a URL or instead of one.

/** Server and user, in the shape of node-postgres' settings. Missing ones come from PG* or its defaults. */
export interface ConnectionOptions {
  /** URL or `keyword=value` pairs; what it says overrules the settings beside it. */
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
  /** A function is asked before each connection, for passwords that expire. It cannot be sent to threads: everything is
   *  then loaded in the caller's own. */
  readonly password?: string | (() => string | Promise<string>);
  /** true, or options of `tls.connect`: ca, cert, key, rejectUnauthorized, servername … */
  readonly ssl?: boolean | object;
  /** Command-line options for the server process: `-c work_mem=64MB`. */
  readonly options?: string;
  readonly connectionTimeoutMillis?: number;
}
