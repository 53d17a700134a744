// Listens on a port until closed, for the endpoints of a worker and for the page.

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EtlError, messageOf } from '../core/errors/errors.ts';

export interface Listening {
  /** The chosen port, if port 0 was requested. */
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Errors: ETL_USAGE (the port is taken). */
export const listen = async (server: Server, host: string, port: number): Promise<Listening> => {
  try {
    server.listen(port, host);
    await once(server, 'listening');
    // A failed connection (no file descriptor left) must not end the process.
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
