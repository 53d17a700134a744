// A client for a library that makes its connections itself.

import type pg from 'pg';
import type { SessionStart } from './session-start.ts';
import type { ServerConfig } from './config.ts';
import { onPreferredHost, preferNextHost } from './hosts.ts';
import { PgClient, type ClientOptions } from './pg.ts';

/**
 * For a library that opens connections without listening to them: their loss is reported to the next query, never as an event
 * that nobody hears and that ends the process. Proved by test/services/queue-connections.test.ts, and by
 * test/fault/server-kill.test.ts, where the jobs are added.
 */
export class GuardedClient extends PgClient {
  readonly #config: ServerConfig;

  /** Connects to one host of the configuration; if it fails, the next client tries another one. */
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

  // Not by a listener of its own: BullMQ takes off all there are before it says goodbye.
  override emit(...[event, ...details]: Parameters<pg.Client['emit']>): boolean {
    return (event !== 'error' || this.listenerCount(event) > 0) && super.emit(event, ...details);
  }
}
