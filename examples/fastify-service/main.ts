// A service of Fastify that runs pipelines from a queue. It needs DATABASE_URL, and listens on 127.0.0.1 at PORT.
//
//   npx jiti examples/fastify-service/main.ts
//
//   GET  /queue             how many runs wait, run and have failed
//   POST /pipelines/:name   puts a run on the queue; answers 202, or 200 if one waits or runs already

import Fastify from 'fastify';
import { EtlError } from 'sluice';
import { EtlService } from './etl-service.ts';

const etl = new EtlService({ databaseUrl: process.env['DATABASE_URL'], pipelines: 'pipelines' });
const app = Fastify({ logger: { level: 'warn' } });

app.addHook('onReady', () => etl.onModuleInit());
app.addHook('onClose', () => etl.onModuleDestroy());

app.get('/queue', () => etl.state());

app.post<{ Params: { name: string } }>('/pipelines/:name', async (request, reply) => {
  const added = await etl.start(request.params.name);
  if (added === undefined)
    return reply.code(404).send({ error: 'no such pipeline', pipelines: etl.pipelines });
  return reply.code(added.isNew ? 202 : 200).send(added);
});

// The codes are stable; messages and hints are for people.
app.setErrorHandler((error, request, reply) => {
  if (!(error instanceof EtlError)) return reply.send(error);
  request.log.error(error);
  const { code, message, hint } = error;
  return reply.code(error.retry === 'never' ? 422 : 503).send({ code, message, hint });
});

console.log(await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT'] ?? 0) }));

// The library leaves signals to its host: close() takes no more requests, and then calls onClose.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close());
