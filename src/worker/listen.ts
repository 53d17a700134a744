// Listens on a port until it is closed: for the endpoints of a worker, and for the page.

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EtlError, messageOf } from '../core/errors/errors.ts';

export interface Listening {
  /** The one that was free, if 0 was asked for. */
  readonly port: number;
  /** Ends every connection. */
  readonly close: () => Promise<void>;
}

/** Listens. Errors: ETL_USAGE when the port is taken. */
export const listen = async (server: Server, host: string, port: number): Promise<Listening> => {
  try {
    server.listen(port, host);
    await once(server, 'listening');
    // A connection that fails (no descriptor left) must not end the process; its caller tries again.
    server.on('error', () => undefined);
  } catch (cause) {
    const problem = `cannot listen on ${host}:${port}: ${messageOf(cause)}`;
    throw new EtlError('ETL_USAGE', { problem, hint: 'Use another port or host.' }, { cause });
  }
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
