// The page in a service of Fastify: in a scope without parsers of bodies, for it reads its own forms.

import { getRequestListener } from '@hono/node-server';
import type { FastifyInstance } from 'fastify';
import type { EtlPage } from 'sluice';

export const mount = (app: FastifyInstance, page: EtlPage): void => {
  const listener = getRequestListener(page.fetch, { overrideGlobalObjects: false });
  app.register((scope, _, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, parsed) => parsed(null));
    for (const path of ['/etl', '/etl/*'])
      scope.all(path, (request, reply) => {
        reply.hijack();
        return listener(request.raw, reply.raw);
      });
    done();
  });
};
