// Serves /health, /ready and /metrics, for an orchestrator and Prometheus.

import { basename } from 'node:path';
import { createServer, type ServerResponse } from 'node:http';
import { messageOf } from '../core/errors/errors.ts';
import type { BrokenFile } from './catalog.ts';
import { hostNameOf, isLocalName } from './host-name.ts';
import { listen, type Listening } from './listen.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { HealthOptions } from './options.ts';

const answer = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
};

/** Errors: ETL_USAGE (the port is taken). */
export const serveHealth = async (
  { port, host = '127.0.0.1', hosts = [] }: HealthOptions,
  isReady: () => boolean,
  broken: readonly BrokenFile[],
  { registry }: WorkerMetrics,
): Promise<Listening> => {
  const known = new Set(hosts.map(hostNameOf));
  const isKnown = (name: string): boolean => isLocalName(name) || known.has(name);
  const live = ['live', ...broken.map(({ file }) => `cannot load ${basename(file)}`)].join('\n');
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    // /health and /ready reveal only names of broken files, so probes may use any host name.
    if (path === '/health') answer(response, 200, live);
    else if (path === '/ready') {
      if (isReady()) answer(response, 200, 'ready');
      else answer(response, 503, 'not ready');
    } else if (path === '/metrics' && !isKnown(hostNameOf(request.headers.host ?? '')))
      answer(response, 421, 'this host name is not allowed here; --health-hosts lists the allowed names');
    else if (path === '/metrics')
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        (error: unknown) => answer(response, 503, messageOf(error)),
      );
    else answer(response, 404, 'there are /health, /ready and /metrics');
  });
  return listen(server, host, port);
};
