// The HTTP routes of the page. Every request passes the checks of `addGuards` first.

import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { asEtlError, EtlError } from '../core/errors/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Access } from './access.ts';
import { assets } from './assets.ts';
import { addBoard, type Board } from './board.ts';
import type { Control } from './control.ts';
import { createExport, type Read } from './export.ts';
import type { Live } from './live.ts';
import { asPageError, errorBody, type PageError } from './parts/error-page.ts';
import { layout } from './parts/layout.ts';
import { pathUnder } from './path.ts';
import type { MakeView, View, ViewContext } from './parts/view.ts';
import { withActions } from './sections.ts';
import { actionsView, actionView } from './views/actions.ts';
import { errorView } from './views/error.ts';
import { filesView } from './views/files.ts';
import { overview } from './views/overview.ts';
import { queueView } from './views/queue.ts';
import { rejectsView } from './views/rejects.ts';
import { runView } from './views/run.ts';
import { runsView } from './views/runs.ts';
import { scheduleView } from './views/schedule.ts';
import { schedulesView } from './views/schedules.ts';

// Forbids foreign content, inline scripts and frames.

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const safeHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With `no-referrer`, browsers send forms with the origin `null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** Longest body of a request: the page's forms have only a few short fields. */
const bodyBytesMax = 16 * 1024;

interface Refusal {
  readonly status: 405 | 411 | 413;
  readonly text: string;
}

const readMethods = new Set(['GET', 'HEAD']);
const formMethods = new Set(['POST']);
const boardMethods = new Set(['POST', 'PUT', 'PATCH']);

const headerRefusal = ({ method, headers }: Request, changing: ReadonlySet<string>): Refusal | undefined => {
  if (readMethods.has(method)) return undefined;
  if (!changing.has(method)) return { status: 405, text: 'This method is not answered here.' };
  const length = headers.get('content-length');
  // Without this header, the body could be of any size.
  if (length === null || !/^\d{1,15}$/.test(length)) return { status: 411, text: 'The length is missing.' };
  return Number(length) > bodyBytesMax ? { status: 413, text: 'This is too large.' } : undefined;
};

// A new page is a file in views/ and a line here.

interface Route {
  readonly pattern: RegExp;
  readonly make: MakeView;
}

const routes: readonly Route[] = [
  { pattern: /^\/$/, make: overview },
  { pattern: /^\/rejects$/, make: rejectsView },
  { pattern: /^\/files$/, make: filesView },
  { pattern: /^\/runs$/, make: runsView },
  { pattern: /^\/runs\/(\d{1,15})$/, make: withActions('run', runView) },
  { pattern: /^\/schedules$/, make: schedulesView },
  { pattern: /^\/schedules\/([\w-]{1,80})$/, make: withActions('schedule', scheduleView) },
  { pattern: /^\/queue$/, make: queueView },
  { pattern: /^\/errors\/(\w{1,60})$/, make: errorView },
  { pattern: /^\/actions$/, make: actionsView },
  { pattern: /^\/actions\/(\d{1,15})$/, make: actionView },
];

const findRoute = (
  path: string,
): { readonly make: MakeView; readonly parts: readonly string[] } | undefined => {
  for (const { pattern, make } of routes) {
    const found = pattern.exec(path);
    if (found !== null) return { make, parts: found.slice(1) };
  }
  return undefined;
};

export interface AppOptions {
  /** Base path without a slash at its end, such as '/etl'; '' for none. */
  readonly base: string;
  readonly access: Access;
  readonly live: Live;
  readonly logger: Logger;
  readonly server: () => string;
  readonly withContext: <T>(
    given: Omit<ViewContext, 'client' | 'queues' | 'traceLink'>,
    make: (context: ViewContext) => Promise<T>,
  ) => Promise<T>;
  readonly read: Read;
  readonly control: Control | undefined;
  readonly board: Board | undefined;
}

const askForToken = `<!doctype html><html lang="en"><title>sluice</title>
<p>This page needs a token: open the address that was printed when the page was started.</p></html>`;

/** Every request needs a known host name, a short body, and a token or session. */
const addGuards = (app: Hono, { base, access, control, board }: AppOptions): void => {
  app.use(async (context, next) => {
    if (!access.isOurHost(context.req.raw)) return context.text('This host name is not answered here.', 421);
    await next();
    for (const [name, value] of Object.entries(safeHeaders))
      // BullMQ's board sets its own content security policy.
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
    return undefined;
  });
  app.use(compress());
  app.use(async ({ req, text }, next) => {
    const isBoard = control !== undefined && board !== undefined && req.path.startsWith('/board/api/');
    const refused = headerRefusal(req.raw, isBoard ? boardMethods : formMethods);
    // The body of a refused request is not read.
    return refused === undefined ? next() : text(refused.text, refused.status, { connection: 'close' });
  });
  app.use(async (context, next) => {
    const { req } = context;
    const given = req.query('token');
    if (given !== undefined && req.method === 'GET' && access.isToken(given)) {
      context.header('set-cookie', access.begin(req.raw).cookie);
      // One slash only: a redirect to `//name` would go to another host.
      return context.redirect((base + req.path).replace(/^\/+/, '/'), 303);
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

/** Hono would start the stream of GET for HEAD, which nobody would read or end. */
const headless =
  (type: string): MiddlewareHandler =>
  async (context, next) =>
    context.req.method === 'HEAD' ? context.body(null, 200, { 'content-type': type }) : next();

const titles: Readonly<Record<number, string>> = { 403: 'Not allowed', 404: 'Not found' };

const createViews = (options: AppOptions) => {
  const { base, control, board } = options;
  const href = (path: string): string => base + path;
  const send = async (
    context: Context,
    view: View,
    path?: string,
    status: 200 | PageError['status'] = 200,
  ) => {
    const live = path === undefined ? undefined : href(`/live?${new URLSearchParams({ path }).toString()}`);
    const traits = { isControl: control !== undefined, hasBoard: board !== undefined };
    const frame = { ...traits, href, server: options.server(), live, now: new Date() };
    return context.html(await layout(view, frame), status);
  };
  return {
    find: (path: string, query: URLSearchParams): (() => Promise<View>) | undefined => {
      const route = findRoute(path);
      if (route === undefined) return undefined;
      return () =>
        options.withContext({ parts: route.parts, query, href, control, now: new Date() }, route.make);
    },
    open: async (context: Context, make: MakeView): Promise<Response> => {
      const given = { parts: [], query: new URLSearchParams(), href, control, now: new Date() };
      return send(context, await options.withContext(given, make));
    },
    send,
    sendError: (context: Context, error: PageError): Promise<Response> => {
      const title =
        context.req.method === 'POST' ? 'Not done' : (titles[error.status] ?? 'This page cannot be shown');
      const sections = [{ id: 'error', body: errorBody(error, href) }];
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
  app.get('/rejects.csv', headless('text/csv; charset=utf-8'), createExport(options.read));
  app.get('/live', headless('text/event-stream'), (context) => {
    const path = context.req.query('path') ?? '';
    const url = URL.canParse(path, 'http://page') ? new URL(path, 'http://page') : undefined;
    const make = url && views.find(url.pathname, url.searchParams);
    if (url === undefined || make === undefined) return context.notFound();
    return live.stream(context, url.pathname + url.search, make) ?? context.text('too many', 503);
  });
  if (options.board !== undefined) addBoard(app, options.board, options);
  options.control?.addTo(app, base, views.open);
  app.get('*', async (context) => {
    const url = new URL(context.req.url);
    const make = views.find(context.req.path, url.searchParams);
    return make === undefined
      ? context.notFound()
      : views.send(context, await make(), context.req.path + url.search);
  });
  app.post('*', (context) => {
    if (options.control === undefined) throw new EtlError('ETL_PAGE_READ_ONLY');
    return context.notFound();
  });
  const missing = { status: 404, code: 'Not found', message: 'There is no such page.', hint: '' } as const;
  app.notFound((context) => views.sendError(context, missing));
  app.onError((thrown, context) => {
    const error = asPageError(thrown);
    if (error.status === 500)
      logger.error({ error: asEtlError(thrown), path: context.req.path }, 'a page failed');
    if (error.code === 'ETL_PAGE_FORM')
      logger.warn({ path: context.req.path, problem: error.message }, 'a form was refused');
    return views.sendError(context, error);
  });
  return app;
};
