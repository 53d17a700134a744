// The endpoints that an orchestrator and Prometheus ask: /health, /ready, /metrics.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EtlError, messageOf } from '../errors.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { HealthOptions } from './options.ts';

export interface HealthServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

const answer = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
};

/** Listens. Errors: ETL_USAGE when the port is taken. */
export const serveHealth = async (
  { port, host = '127.0.0.1' }: HealthOptions,
  isReady: () => boolean,
  { registry }: WorkerMetrics,
): Promise<HealthServer> => {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    // Any response means healthy.
    if (path === '/health') answer(response, 200, 'live');
    else if (path === '/ready') {
      if (isReady()) answer(response, 200, 'ready');
      else answer(response, 503, 'not ready');
    } else if (path === '/metrics')
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        (error: unknown) => answer(response, 503, messageOf(error)),
      );
    else answer(response, 404, 'there are /health, /ready and /metrics');
  });
  try {
    server.listen(port, host);
    await once(server, 'listening');
    // A connection that fails (no descriptor left) must not end the worker; its caller tries again.
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
