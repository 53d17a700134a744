// Loads node-postgres, and adds libpq's rules for TLS and password files. No other file loads it.

import { createRequire } from 'node:module';
import { callbackify } from 'node:util';
import type pg from 'pg';
import type { Socket } from 'node:net';
import { startStatement, type SessionStart } from './session-start.ts';
import { eachOnItsOwn } from './citus-statements.ts';
import { guardAuthentication } from './authentication.ts';
import type { Host, ServerConfig } from './config.ts';
import { passwordFromFile } from './password-file.ts';
import { refuseUnfit } from './session-kind.ts';
import { answerMissingTls, tlsOf } from './tls.ts';

/**
 * Loads the CommonJS files: the ES module only wraps them, and each thread would read both.
 *
 * Defines `navigator` while loading. Without it (Node 20), node-postgres creates a Response, for
 * which Node loads its HTTP client, and loading takes twice the time.
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

export const PgPool = driver.Pool;

interface RowCollector extends pg.QueryResult {
  addFields(fields: readonly unknown[]): void;
  parseRow(fields: readonly unknown[]): object;
  addRow(row: object): void;
}

interface RowMessages {
  handleRowDescription?: (message: { readonly fields: readonly unknown[] }) => void;
  handleDataRow?: (message: { readonly fields: readonly unknown[] }) => void;
}

/**
 * Makes a query that expects no rows, such as COPY, collect the rows of the other statements in its
 * multi-statement query.
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

interface Connecting {
  ssl: boolean;
  connect(...address: unknown[]): void;
  on(event: 'parameterStatus', listener: (status: ParameterStatus) => void): this;
}

interface DriverParameters {
  readonly connectionParameters: { options: string | undefined };
}

/** Connects to `hostaddr`, if set; TLS and the password file still use the host's name. */
const connectToAddress = (socket: Socket, { port, hostaddr }: Host): void => {
  if (hostaddr === undefined) return;
  const connect = socket.connect.bind(socket) as (port: number, host: string) => Socket;
  socket.connect = () => connect(port, hostaddr);
};

interface BackendKey {
  readonly processID: number | null;
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

export type ClientOptions = Pick<pg.ClientConfig, 'stream' | 'query_timeout' | 'connectionTimeoutMillis'>;

/** Sets every option that node-postgres would read from the environment. */
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
 * The class of all our connections: each session starts with a safe search path
 * (test/integration/session-start.test.ts).
 *
 * Functions for passwords and TLS are created here, because configurations are sent to threads and
 * functions cannot be (test/integration/tls.test.ts, password-file.test.ts).
 */
export class PgClient extends driver.Client {
  readonly serverConfig: ServerConfig;
  readonly #start: SessionStart;
  readonly #timeoutMs: number;
  #serverVersion = '';
  #serverPid: number | undefined;
  /** True if the database has Citus, once the session has started. */
  hasCitus = false;

  constructor(config: ServerConfig, start: SessionStart, options: ClientOptions = {}) {
    const { ssl, isOptional } = tlsOf(config);
    const settings = driverConfig(config, start, options);
    super({ ...settings, ssl });
    // Set here, or the driver would read PGOPTIONS, which may be meant for another server.
    (this as unknown as DriverParameters).connectionParameters.options = config.parameters.options;
    this.serverConfig = config;
    this.#start = start;
    this.#timeoutMs = settings.connectionTimeoutMillis ?? 0;
    const connection = this.connection as pg.Connection & Connecting;
    connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'server_version') this.#serverVersion = parameterValue;
    });
    guardAuthentication(connection, config.parameters);
    // As in libpq, a Unix socket is never encrypted.
    if (this.host.startsWith('/')) this.ssl = connection.ssl = false;
    connectToAddress(connection.stream as Socket, settings);
    if (!this.ssl || settings.sslnegotiation === 'direct') return;
    const connect = connection.connect.bind(connection);
    connection.connect = (...address) => {
      connect(...address);
      answerMissingTls(connection, isOptional);
    };
  }

  get serverMajor(): number {
    return Number.parseInt(this.#serverVersion, 10);
  }

  get serverPid(): number | undefined {
    return this.#serverPid;
  }

  /** The pid that the server sent at login; a pooler sends a number of its own. */
  get #loginPid(): number | null {
    return (this as unknown as BackendKey).processID;
  }

  /** True if the server, or a pooler before it, has accepted our login. */
  get isLoggedIn(): boolean {
    return this.#loginPid !== null;
  }

  /** A pooler reports its own number instead of the pid. */
  get isPooled(): boolean {
    return this.#serverPid !== undefined && this.#serverPid !== this.#loginPid;
  }

  /**
   * Starts the session, with a timeout of its own. The driver's timeout covers only the login,
   * which a pooler answers even without a free server connection (test/fault/pgbouncer.test.ts).
   */
  async #begin(): Promise<void> {
    const late = (): void => void this.connection.stream.destroy(new Error('the session did not start'));
    const timer = this.#timeoutMs > 0 ? setTimeout(late, this.#timeoutMs) : undefined;
    try {
      const text = startStatement(this.#start, this.serverMajor, this.#loginPid ?? 0);
      const results = (await this.query(text)) as unknown as readonly pg.QueryResult[];
      const row = results.at(-1)!.rows[0];
      this.#serverPid = row.pid;
      refuseUnfit(this.serverConfig.target, row);
      this.hasCitus = row.hasCitus;
      if (row.hasCitus) this.#separate();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sets what every session of ours has. Behind a pooler, the session must be ours alone. */
  async keepSettings(): Promise<void> {
    await this.query(startStatement(this.#start, this.serverMajor));
  }

  #separate(): void {
    const query = this.query.bind(this) as (...given: readonly unknown[]) => unknown;
    const separately = (first: unknown, ...rest: readonly unknown[]): unknown =>
      query(typeof first === 'string' ? eachOnItsOwn(first) : first, ...rest);
    Object.assign(this, { query: separately });
  }

  protected async open(): Promise<this> {
    await super.connect();
    try {
      await this.#begin();
      if (this.isPooled && this.#start.waitsBehindPooler !== true) await this.keepSettings();
    } catch (error) {
      void this.end().catch(() => undefined);
      throw error;
    }
    return this;
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null, client?: this) => void): void;
  override connect(callback?: (error: Error | null, client?: this) => void): Promise<this> | undefined {
    if (callback === undefined) return this.open();
    callbackify(() => this.open())(callback);
    return undefined;
  }
}
