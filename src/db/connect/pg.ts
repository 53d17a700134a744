// node-postgres: the one place that loads it, and adds libpq's rules for TLS and password files.

import { createRequire } from 'node:module';
import { callbackify } from 'node:util';
import type pg from 'pg';
import type { Socket } from 'node:net';
import { startStatement, type SessionStart } from './session-start.ts';
import { guardAuthentication } from './authentication.ts';
import type { Host, ServerConfig } from './config.ts';
import { passwordFromFile } from './password-file.ts';
import { refuseUnfit } from './session-kind.ts';
import { answerMissingTls, tlsOf } from './tls.ts';

/**
 * Loads it as CommonJS, which it is; its ES module wraps that, and every thread would read both.
 *
 * It detects Cloudflare by `navigator`, and on a Node without one (20) by making a Response, for which Node loads its HTTP client:
 * that takes as long as all of node-postgres. So there is a `navigator` while it loads.
 */
const loadPg = (): typeof pg => {
  const isMissing = !('navigator' in globalThis);
  const value = { userAgent: `Node.js/${process.versions.node}` };
  if (isMissing) Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
  try {
    return createRequire(import.meta.url)('pg') as typeof pg;
  } finally {
    if (isMissing) Reflect.deleteProperty(globalThis, 'navigator');
  }
};

const driver = loadPg();

/** The driver's pool, which knows no client of ours until it is given one. */
export const PgPool = driver.Pool;

/** Result, as the driver's own queries fill it. The types leave it out. */
interface RowCollector extends pg.QueryResult {
  addFields(fields: readonly unknown[]): void;
  parseRow(fields: readonly unknown[]): object;
  addRow(row: object): void;
}

/** The driver hands a query's messages to these. */
interface RowMessages {
  handleRowDescription?: (message: { readonly fields: readonly unknown[] }) => void;
  handleDataRow?: (message: { readonly fields: readonly unknown[] }) => void;
}

/**
 * Teaches a query that expects no rows, such as a COPY, to collect those of statements ahead of it in its message: a result for each
 * statement that returns rows.
 */
export const collectRows = (query: object): readonly pg.QueryResult[] => {
  const { Result } = driver as unknown as { readonly Result: new () => RowCollector };
  const results: RowCollector[] = [];
  const messages: RowMessages = query;
  messages.handleRowDescription = ({ fields }) => {
    const result = new Result();
    result.addFields(fields);
    results.push(result);
  };
  messages.handleDataRow = ({ fields }) => {
    const result = results.at(-1)!;
    result.addRow(result.parseRow(fields));
  };
  return results;
};

/** What the types leave out. */
interface Connecting {
  ssl: boolean;
  connect(...address: unknown[]): void;
  on(event: 'parameterStatus', listener: (status: ParameterStatus) => void): this;
}

interface DriverParameters {
  readonly connectionParameters: { options: string | undefined };
}

/** hostaddr: the socket goes there, while TLS and the password file go by the name of the host. */
const connectToAddress = (socket: Socket, { port, hostaddr }: Host): void => {
  if (hostaddr === undefined) return;
  const connect = socket.connect.bind(socket) as (port: number, host: string) => Socket;
  socket.connect = () => connect(port, hostaddr);
};

/** Of BackendKeyData, by which a session is cancelled: the server process, or a pooler's number for it. */
interface BackendKey {
  readonly processID: number | null;
}

/** Parameters that the server reports before the session begins. PostgreSQL, "Message Formats", ParameterStatus. */
interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** What one connection has beside its address. */
export type ClientOptions = Pick<pg.ClientConfig, 'stream' | 'query_timeout' | 'connectionTimeoutMillis'>;

/** All that node-postgres would otherwise look up in the environment. */
const driverConfig = (config: ServerConfig, start: SessionStart, options: ClientOptions) => {
  const { parameters, user, database } = config;
  const { keepalives, keepalives_idle: idle, channel_binding: binding } = parameters;
  const host = config.hosts[0]!;
  return {
    ...host,
    user,
    database,
    password: config.password || parameters.password || (() => passwordFromFile(host, config)),
    sslnegotiation: (parameters.sslnegotiation || 'postgres') as 'postgres' | 'direct',
    enableChannelBinding: binding === 'prefer' || binding === 'require',
    scramMaxIterations: config.scramMaxIterations,
    keepAlive: config.keepAlive ?? keepalives !== '0',
    keepAliveInitialDelayMillis: config.keepAliveInitialDelayMillis ?? Number(idle || 0) * 1000,
    connectionTimeoutMillis: config.connectionTimeoutMillis,
    ...options,
    application_name: start.name,
  };
};

/**
 * Every connection of ours: each one begins with a safe search path. Proved by
 * test/integration/session-start.test.ts.
 *
 * Functions cannot be in the configuration: it is sent to threads. Proved by test/integration/tls.test.ts and
 * password-file.test.ts. Errors: ETL_USAGE.
 */
export class PgClient extends driver.Client {
  /** Of its host alone. */
  readonly serverConfig: ServerConfig;
  readonly #start: SessionStart;
  readonly #timeoutMs: number;
  #serverVersion = '';
  #serverPid: number | undefined;

  /** A client connects to the first host of its configuration. */
  constructor(config: ServerConfig, start: SessionStart, options: ClientOptions = {}) {
    const { ssl, isOptional } = tlsOf(config);
    const settings = driverConfig(config, start, options);
    super({ ...settings, ssl });
    // Where its own configuration has none, the driver takes PGOPTIONS, which may be for another server.
    (this as unknown as DriverParameters).connectionParameters.options = config.parameters.options;
    this.serverConfig = config;
    this.#start = start;
    this.#timeoutMs = settings.connectionTimeoutMillis ?? 0;
    const connection = this.connection as pg.Connection & Connecting;
    connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'server_version') this.#serverVersion = parameterValue;
    });
    guardAuthentication(connection, config.parameters);
    // A local socket is never encrypted, and libpq ignores the mode.
    if (this.host.startsWith('/')) this.ssl = connection.ssl = false;
    connectToAddress(connection.stream as Socket, settings);
    if (!this.ssl || settings.sslnegotiation === 'direct') return;
    const connect = connection.connect.bind(connection);
    connection.connect = (...address) => {
      connect(...address);
      answerMissingTls(connection, isOptional);
    };
  }

  /** By the server's word for its version, '18.4 (Debian …)'. */
  get serverMajor(): number {
    return Number.parseInt(this.#serverVersion, 10);
  }

  /** The server process of this session; undefined until the session has begun. */
  get serverPid(): number | undefined {
    return this.#serverPid;
  }

  /** Whether the server was asked who we are: then it has answered, or a pooler in its place. */
  get isLoggedIn(): boolean {
    return (this as unknown as BackendKey).processID !== null;
  }

  /** Whether there is a pooler in front of the server: it names a server process of its own when a session begins. */
  get isPooled(): boolean {
    return this.#serverPid !== undefined && this.#serverPid !== (this as unknown as BackendKey).processID;
  }

  /**
   * The driver bounds the time of logging in. A pooler answers that itself, and may have no connection to the server left
   * (test/fault/pgbouncer.test.ts).
   */
  async #begin(): Promise<void> {
    const late = (): void => void this.connection.stream.destroy(new Error('the session was never begun'));
    const timer = this.#timeoutMs > 0 ? setTimeout(late, this.#timeoutMs) : undefined;
    try {
      const text = startStatement(this.#start, this.serverMajor);
      // One result a statement: the types know of one.
      const results = (await this.query(text)) as unknown as readonly pg.QueryResult[];
      const row = results.at(-1)!.rows[0];
      this.#serverPid = row.pid;
      refuseUnfit(this.serverConfig.target, row);
    } finally {
      clearTimeout(timer);
    }
  }

  protected async open(): Promise<this> {
    await super.connect();
    try {
      await this.#begin();
    } catch (error) {
      void this.end().catch(() => undefined);
      throw error;
    }
    return this;
  }

  // Pools call back; everybody else waits.
  override connect(): Promise<this>;
  override connect(callback: (error: Error | null, client?: this) => void): void;
  override connect(callback?: (error: Error | null, client?: this) => void): Promise<this> | undefined {
    if (callback === undefined) return this.open();
    callbackify(() => this.open())(callback);
    return undefined;
  }
}
