// Serves /health, /ready and /metrics, for an orchestrator and Prometheus.

import { createServer, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { messageOf } from '../core/errors/errors.ts';
import { onOneLine } from '../core/wording.ts';
import { hostNameOf, isLocalName } from './host-name.ts';
import { listen, type Listening } from './listen.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { HealthOptions } from './options.ts';
import { problemLines, unreadyLines, type Standing } from './standing.ts';

const answer = (response: ServerResponse, status: number, lines: readonly string[]): void => {
  const text = lines.map((line) => `${onOneLine(line)}\n`).join('');
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
};

const starting = 'the worker starts: it waits until its server and its queue answer';

const answerMetrics = (response: ServerResponse, registry: Registry | undefined): void => {
  if (registry === undefined) return answer(response, 503, [starting]);
  registry.metrics().then(
    (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
    (error: unknown) => answer(response, 503, [messageOf(error)]),
  );
};

interface Health extends Listening {
  /** Until this is called, the answers say that the worker starts. */
  readonly show: (standing: Standing, metrics: WorkerMetrics) => void;
}

/** Errors: ETL_USAGE (the port is taken). */
export const serveHealth = async ({
  port,
  host = '127.0.0.1',
  hosts = [],
}: HealthOptions): Promise<Health> => {
  let shown: { readonly standing: Standing; readonly registry: Registry } | undefined;
  const known = new Set(hosts.map(hostNameOf));
  const isKnown = (name: string): boolean => isLocalName(name) || known.has(name);
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    // /health and /ready reveal only codes, and names of files and pipelines, so probes may use any
    // host name.
    if (path === '/health')
      answer(response, 200, ['live', ...(shown === undefined ? [starting] : problemLines(shown.standing))]);
    else if (path === '/ready') {
      const reasons = shown === undefined ? [starting] : unreadyLines(shown.standing);
      if (reasons.length === 0) answer(response, 200, ['ready']);
      else answer(response, 503, ['not ready', ...reasons]);
    } else if (path === '/metrics' && !isKnown(hostNameOf(request.headers.host ?? '')))
      answer(response, 421, ['this host name is not allowed here; --health-hosts lists the allowed names']);
    else if (path === '/metrics') answerMetrics(response, shown?.registry);
    else answer(response, 404, ['there are /health, /ready and /metrics']);
  });
  const listening = await listen(server, host, port);
  return { ...listening, show: (standing, { registry }) => void (shown = { standing, registry }) };
};
