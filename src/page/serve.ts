// Serves the page on its own port, for `etl ui`, with limits for connections and headers.

import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { listen, type Listening } from '../worker/listen.ts';
import type { EtlPage } from './options.ts';

export interface ServeOptions {
  readonly port: number;
  readonly host: string;
}

/** HTTP connections at once: enough for about 40 browsers, which open six connections each. */
const connectionsMax = 256;

/** Size of a request's headers: browsers also send the cookies of other programs on this host. */
const headerBytesMax = 16 * 1024;

const bounded = (server: Server): Server => {
  server.maxConnections = connectionsMax;
  server.maxHeadersCount = 100;
  // Limits for slow clients: headers, whole request, idle connection, client that reads nothing.
  server.headersTimeout = 10_000;
  server.requestTimeout = 15_000;
  server.keepAliveTimeout = 10_000;
  server.timeout = 60_000;
  return server;
};

/** Errors: ETL_USAGE if the port is in use. */
export const servePage = async (page: EtlPage, { port, host }: ServeOptions): Promise<Listening> => {
  const listener = getRequestListener(page.fetch, { overrideGlobalObjects: false });
  const server = bounded(
    createServer(
      { maxHeaderSize: headerBytesMax, connectionsCheckingInterval: 2_000 },
      (request, response) => void listener(request, response),
    ),
  );
  return listen(server, host, port);
};
