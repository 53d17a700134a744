// The page on a port of its own, for `etl ui`: a server whose connections, headers and waiting are bounded.

import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { listen, type Listening } from '../worker/listen.ts';
import type { EtlPage } from './options.ts';

export interface ServeOptions {
  /** 0 takes any that is free. */
  readonly port: number;
  readonly host: string;
}

/** Browsers open six connections each; those that are one too many are closed. */
const connectionsMax = 256;

/** Ours are a few hundred bytes; a cookie of another program on this machine may come along. */
const headerBytesMax = 16 * 1024;

const bounded = (server: Server): Server => {
  server.maxConnections = connectionsMax;
  server.maxHeadersCount = 100;
  // Slow clients: headers, the whole request, an idle connection, and one that takes nothing.
  server.headersTimeout = 10_000;
  server.requestTimeout = 15_000;
  server.keepAliveTimeout = 10_000;
  server.timeout = 60_000;
  return server;
};

/** Listens. Errors: ETL_USAGE when the port is taken. */
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
