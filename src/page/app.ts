// What answers a request: the host's name first, then the token, then a page, a file of ours, or a stream of live updates.

import { Hono, type Context } from 'hono';
import { compress } from 'hono/compress';
import { asEtlError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Access } from './access.ts';
import { assets } from './assets/assets.ts';
import { createExport, type Read } from './export.ts';
import type { Live } from './live.ts';
import { asPageError, errorBody, type PageError } from './parts/error-page.ts';
import { layout } from './parts/layout.ts';
import { findRoute } from './routes.ts';
import { refusalOf, safeHeaders } from './safety.ts';
import type { View, ViewContext } from './view.ts';

export interface AppOptions {
  /** The host's path without a slash at its end; '' for none. */
  readonly base: string;
  readonly access: Access;
  readonly live: Live;
  readonly logger: Logger;
  readonly server: () => string;
  /** Makes a view over a connection that only reads. */
  readonly withContext: <T>(
    given: Omit<ViewContext, 'client' | 'queues'>,
    make: (context: ViewContext) => Promise<T>,
  ) => Promise<T>;
  /** Over a connection that only reads. */
  readonly read: Read;
}

/** The path as our routes know it; a host may have taken its own part off already. */
const pathUnder = (base: string, url: string): string => {
  const { pathname } = new URL(url);
  return base !== '' && (pathname === base || pathname.startsWith(`${base}/`))
    ? pathname.slice(base.length) || '/'
    : pathname;
};

const askForToken = `<!doctype html><html lang="en"><title>sluice</title>
<p>This page needs its token: open the address that was printed when it was started.</p></html>`;

/** What every request passes: a known host, a short body, the token. */
const addGuards = (app: Hono, { base, access }: AppOptions): void => {
  app.use(async (context, next) => {
    if (!access.isOurHost(context.req.raw)) return context.text('This name is not answered here.', 421);
    await next();
    for (const [name, value] of Object.entries(safeHeaders)) context.res.headers.set(name, value);
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
    return undefined;
  });
  app.use(compress());
  app.use(async ({ req, text }, next) => {
    const refused = refusalOf(req.raw);
    // Nobody reads the rest of such a request.
    return refused === undefined ? next() : text(refused.text, refused.status, { connection: 'close' });
  });
  app.use(async (context, next) => {
    const { req } = context;
    const given = req.query('token');
    if (given !== undefined && req.method === 'GET' && access.isToken(given)) {
      context.header('set-cookie', access.cookie(new URL(req.url).protocol === 'https:'));
      return context.redirect(base + req.path, 303);
    }
    return access.isKnown(req.raw) ? next() : context.html(askForToken, 401);
  });
};

const answerAsset = (context: Context): Response | Promise<Response> => {
  const found = assets.get(context.req.param('name') ?? '');
  if (found === undefined) return context.notFound();
  context.header('etag', found.etag);
  context.header('cache-control', 'no-cache');
  if (context.req.header('if-none-match') === found.etag) return context.body(null, 304);
  return context.body(found.text, 200, { 'content-type': found.type });
};

/** Makes views, and sends them in their frame. */
const createViews = (options: AppOptions) => {
  const { base } = options;
  const href = (path: string): string => base + path;
  const send = async (
    context: Context,
    view: View,
    path?: string,
    status: 200 | PageError['status'] = 200,
  ) => {
    const live = path === undefined ? undefined : href(`/live?${new URLSearchParams({ path }).toString()}`);
    const frame = { href, server: options.server(), live, now: new Date() };
    return context.html(await layout(view, frame), status);
  };
  return {
    find: (path: string, query: URLSearchParams): (() => Promise<View>) | undefined => {
      const route = findRoute(path);
      if (route === undefined) return undefined;
      return () => options.withContext({ parts: route.parts, query, href, now: new Date() }, route.make);
    },
    send,
    sendError: (context: Context, error: PageError): Promise<Response> => {
      const title = error.status === 404 ? 'Not found' : 'This page cannot be shown';
      const sections = [{ id: 'error', body: errorBody(error) }];
      return send(context, { title, place: '', sections, freshMs: 0 }, undefined, error.status);
    },
  };
};

export const createApp = (options: AppOptions): Hono => {
  const { base, live, logger } = options;
  const app = new Hono({ getPath: (request) => pathUnder(base, request.url) });
  const views = createViews(options);
  addGuards(app, options);
  app.get('/assets/:name', answerAsset);
  app.get('/rejects.csv', createExport(options.read));
  app.get('/live', (context) => {
    const path = context.req.query('path') ?? '';
    const url = URL.canParse(path, 'http://page') ? new URL(path, 'http://page') : undefined;
    const make = url && views.find(url.pathname, url.searchParams);
    if (url === undefined || make === undefined) return context.notFound();
    return live.stream(context, url.pathname + url.search, make) ?? context.text('too many', 503);
  });
  app.get('*', async (context) => {
    const url = new URL(context.req.url);
    const make = views.find(context.req.path, url.searchParams);
    return make === undefined
      ? context.notFound()
      : views.send(context, await make(), context.req.path + url.search);
  });
  const missing = { status: 404, code: 'Not found', message: 'There is no such page.', hint: '' } as const;
  app.notFound((context) => views.sendError(context, missing));
  app.onError((thrown, context) => {
    const error = asPageError(thrown);
    if (error.status === 500)
      logger.error({ error: asEtlError(thrown), path: context.req.path }, 'a page failed');
    return views.sendError(context, error);
  });
  return app;
};
