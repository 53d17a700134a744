// A database client for a library that opens connections itself, such as BullMQ.

import type pg from 'pg';
import type { SessionStart } from './session-start.ts';
import type { ServerConfig } from './config.ts';
import { onPreferredHost, preferNextHost } from './hosts.ts';
import { PgClient, type ClientOptions } from './pg.ts';

/**
 * Drops 'error' events that have no listener, because Node would end the process. The next query
 * reports the lost connection. Proved by test/services/queue-connections.test.ts and
 * test/fault/server-kill.test.ts.
 */
export class GuardedClient extends PgClient {
  readonly #config: ServerConfig;

  /** After a failure, the next client tries the next host. */
  constructor(config: ServerConfig, start: SessionStart, options?: ClientOptions) {
    super(onPreferredHost(config), start, options);
    this.#config = config;
  }

  protected override async open(): Promise<this> {
    try {
      return await super.open();
    } catch (error) {
      preferNextHost(this.#config, this.serverConfig.hosts[0]!);
      throw error;
    }
  }

  // A listener is not enough: BullMQ removes all listeners before it closes a connection.
  override emit(...[event, ...details]: Parameters<pg.Client['emit']>): boolean {
    return (event !== 'error' || this.listenerCount(event) > 0) && super.emit(event, ...details);
  }
}
