// The page in a service of Express: before body parsers, because it reads its own forms.

import { getRequestListener } from '@hono/node-server';
import type { Express } from 'express';
import type { EtlPage } from 'sluice';

export const mount = (app: Express, page: EtlPage): void => {
  app.use('/etl', getRequestListener(page.fetch, { overrideGlobalObjects: false }));
};
