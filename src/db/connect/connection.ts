// What a host may say about the connection, beside or instead of a URL.

/**
 * Where the server is and as whom, as node-postgres takes it: a host's own settings fit. What is missing comes from PG* or
 * its defaults; settings that are not listed here are passed on.
 */
export interface ConnectionOptions {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
  /** A function is asked before each connection, for passwords that expire. It cannot be sent to threads: everything is
   *  then loaded in the caller's own. */
  readonly password?: string | (() => string | Promise<string>);
  /** true, or options of `tls.connect`: ca, cert, key, rejectUnauthorized, servername … */
  readonly ssl?: boolean | object;
}
