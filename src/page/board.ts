// Serves BullMQ's board below /board. Its queues are open only while somebody uses the board.
//
// The board gets its own content security policy, because it has inline styles. The policy forbids
// the board's link to a Google font, so we remove the link.

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type Context } from 'hono';
import type { Client } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { openQueue } from '../queue/job-queue.ts';
import type { OpenQueue } from '../queue/kept-queues.ts';
import { bullNameOf } from '../queue/run-queue.ts';
import { knownQueueNames } from '../worker/queues.ts';
import type { Control } from './control.ts';
import { refuseForeign } from './forms.ts';
import { pathUnder } from './path.ts';

/** The board needs a BullMQ of its own: ours is in the bundle. */
const packages = ['@bull-board/api', '@bull-board/hono', 'bullmq'] as const;

const require = createRequire(import.meta.url);

const isThere = (name: string): boolean => {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
};

/** True if the board is shown; `wanted` undefined: if installed. Errors: ETL_USAGE (it is not). */
export const hasBoard = (wanted: boolean | undefined): boolean => {
  if (wanted === false) return false;
  const missing = packages.filter((name) => !isThere(name));
  if (missing.length === 0) return true;
  if (wanted === undefined) return false;
  throw new EtlError('ETL_USAGE', {
    problem: `BullMQ's board is not installed: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    hint: `npm install ${packages.join(' ')}`,
  });
};

const queuesMax = 16;

const freshMs = 5_000;

/** The board's queues are closed after this time without a request. */
const idleMsDefault = 60_000;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

interface BoardOptions {
  readonly base: string;
  readonly isReadOnly: boolean;
  readonly logger: Logger;
  readonly read: <T>(read: (client: Client) => Promise<T>) => Promise<T>;
  /** May be called only after `read` has resolved the server. */
  readonly backend: () => QueueBackend;
  readonly idleMs?: number;
}

export interface Board {
  readonly answer: (context: Context) => Promise<Response>;
  readonly close: () => Promise<void>;
}

interface Opened {
  readonly app: Hono;
  readonly setQueues: (queues: readonly OpenQueue[]) => void;
}

const load = async ({ base, isReadOnly }: BoardOptions): Promise<Opened> => {
  const { createBullBoard } = await import('@bull-board/api');
  const { BullMQAdapter } = await import('@bull-board/api/bullMQAdapter');
  const { HonoAdapter } = await import('@bull-board/hono');
  const place = `${base}/board`;
  const server = new HonoAdapter(serveStatic).setBasePath(place);
  const uiConfig = { boardTitle: 'BullMQ', hideRedisDetails: true };
  const board = createBullBoard({ queues: [], serverAdapter: server, options: { uiConfig } });
  const app = new Hono({ getPath: ({ url }) => base + pathUnder(base, url).replace(/\/+$/, '') });
  app.route(place, server.registerPlugin());
  return {
    app,
    setQueues: (queues) =>
      board.setQueues(queues.map(({ bull }) => new BullMQAdapter(bull, { readOnlyMode: isReadOnly }))),
  };
};

const createQueues = ({ read, backend, logger }: BoardOptions) => {
  const opened = new Map<string, OpenQueue>();
  let lookedAt = 0;
  return {
    /**
     * Opens the queues that exist now; undefined if they were opened just before. Errors: ETL_USAGE
     * if no run was ever enqueued.
     */
    look: async (): Promise<readonly OpenQueue[] | undefined> => {
      if (opened.size > 0 && Date.now() - lookedAt < freshMs) return undefined;
      const found = await read(async (client) =>
        (await backend().isThere(client))
          ? { namespace: await backend().namespaceOf(client), names: await knownQueueNames(client) }
          : undefined,
      );
      if (found === undefined || found.names.length === 0)
        throw new EtlError('ETL_USAGE', { problem: 'no run was enqueued on this database yet', hint: '' });
      const queues = { backend: backend(), namespace: found.namespace, logger };
      for (const name of found.names.slice(0, queuesMax))
        if (!opened.has(name)) opened.set(name, await openQueue(queues, bullNameOf(name)));
      lookedAt = Date.now();
      return [...opened.values()];
    },
    close: async (): Promise<void> => {
      const queues = [...opened.values()];
      opened.clear();
      for (const { close } of queues) await close();
    },
  };
};

/** Two requests at once would open the same queues twice. */
const inTurn = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act, act);
    last = next.catch(() => undefined);
    return next;
  };
};

const withoutFonts = async (answer: Response): Promise<Response> => {
  if (!answer.headers.get('content-type')?.startsWith('text/html')) return answer;
  const text = (await answer.text()).replace(/<link href="https:\/\/fonts\.[^>]*>/g, '');
  return new Response(text, answer);
};

export const createBoard = (options: BoardOptions): Board => {
  const queues = createQueues(options);
  const turn = inTurn();
  const { idleMs = idleMsDefault } = options;
  let opening: Promise<Opened> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looks = 0;
  const close = (): Promise<void> => {
    clearTimeout(timer);
    return turn(queues.close);
  };
  /** Starts the idle time when no request is running any more. */
  const whileOpen = async (look: () => Promise<Response>): Promise<Response> => {
    clearTimeout(timer);
    looks += 1;
    try {
      return await look();
    } finally {
      looks -= 1;
      if (looks === 0) timer = setTimeout(() => void close(), idleMs).unref();
    }
  };
  const answerOf = async (context: Context): Promise<Response> => {
    const { app, setQueues } = await (opening ??= load(options));
    await turn(async () => {
      const found = await queues.look();
      if (found !== undefined) setQueues(found);
    });
    const answer = await withoutFonts(await app.fetch(context.req.raw, context.env));
    answer.headers.set('content-security-policy', policy);
    // The names of these files contain a hash of their content.
    if (context.req.path.startsWith('/board/static/') && answer.ok)
      answer.headers.set('cache-control', 'private, max-age=86400');
    return answer;
  };
  return { answer: (context) => whileOpen(() => answerOf(context)), close };
};

/**
 * Every visitor may read the board. Requests that change something need `control`, and are
 * recorded. Only their origin is checked, because the board's script does not send our forms' keys.
 */
export const addBoard = (app: Hono, board: Board, { control }: { control: Control | undefined }): void => {
  app.get('/board', (context) => board.answer(context));
  app.get('/board/*', (context) => board.answer(context));
  app.on(['POST', 'PUT', 'PATCH'], '/board/*', async (context) => {
    if (control === undefined) throw new EtlError('ETL_PAGE_READ_ONLY');
    refuseForeign(context.req.raw);
    const subject = `${context.req.method} ${context.req.path.slice('/board/api'.length)}`.slice(0, 500);
    let answer: Response | undefined;
    await control.perform(context, { action: 'board', kind: 'queue', subject }, randomUUID(), async () => {
      answer = await board.answer(context);
      return `BullMQ's board answered ${answer.status}`;
    });
    return answer!;
  });
};
