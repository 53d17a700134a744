// The page in a service of Hono.

import type { Hono } from 'hono';
import type { EtlPage } from 'sluice';

export const mount = (app: Hono, page: EtlPage): void => {
  for (const path of ['/etl', '/etl/*'])
    app.all(path, (context) => page.fetch(context.req.raw, context.env as object));
};
