// `etl ui`: serves the web page until a signal stops it.

import { once } from 'node:events';
import { EtlError } from '../../core/errors/errors.ts';
import { portMax } from '../../core/limits.ts';
import type { PageControl } from '../../page/options.ts';
import { command } from '../command.ts';
import {
  countFlag,
  databaseUrl,
  debug,
  defaultFolder,
  namesFlag,
  redisPrefix,
  textFlag,
  toggle,
} from '../inputs.ts';
import { withInterrupt } from '../interrupt.ts';
import { readRedis } from '../redis.ts';
import { openServer } from '../server.ts';
import { visible } from '../../core/wording.ts';

const anyAddress = new Set(['0.0.0.0', '::']);

const controlOf = async ({
  pipelines,
  control,
  readOnly,
}: {
  readonly pipelines: string | undefined;
  readonly control: boolean;
  readonly readOnly: boolean;
}): Promise<PageControl | false> => {
  if (!control) return false;
  if (readOnly)
    throw new EtlError('ETL_USAGE', {
      problem: '--control and --read-only contradict each other',
      hint: 'Without either, the page only reads.',
    });
  const { existsSync } = await import('node:fs');
  if (pipelines === undefined) return existsSync(defaultFolder) ? { pipelines: defaultFolder } : {};
  const { pipelinesOf } = await import('../../worker/catalog.ts');
  // Fails if the folder does not exist or its pipelines cannot be loaded.
  await pipelinesOf(pipelines);
  return { pipelines };
};

const addressOf = (host: string, port: number): string => {
  const near = anyAddress.has(host) ? '127.0.0.1' : host;
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`;
};

export const uiCommand = command({
  name: 'ui',
  summary: 'serve the web page: runs, chunks, rejects, schedules',
  description:
    'Serves a page that shows runs, chunks, rejects, files, schedules and queues, until it is stopped.',
  takes: {
    databaseUrl,
    redisPrefix,
    port: countFlag('--port <port>', 'port to listen on; default: a free port', portMax),
    host: textFlag('--host <host>', 'address to listen on; default: 127.0.0.1'),
    hosts: namesFlag(
      '--hosts <names>',
      'host names under which the page answers (comma-separated); default: localhost and its addresses',
    ),
    secureCookie: toggle('--secure-cookie', 'mark the cookie Secure, for a page behind a proxy with TLS'),
    token: textFlag('--token <token>', 'secret that visitors need; default: a random one'),
    readOnly: toggle('--read-only', 'visitors can change nothing; the default'),
    control: toggle('--control', 'visitors can cancel, retry and start runs, and pause schedules'),
    pipelines: textFlag(
      '--pipelines <folder>',
      `with --control: pipelines that visitors can run; default: ${defaultFolder}, if it exists`,
    ),
    traceUrl: textFlag(
      '--trace-url <template>',
      'address of a trace, with {traceId}; default: the page shows only trace ids',
    ),
    board: toggle('--board', "require BullMQ's board; default: shown if @bull-board is installed"),
    debug,
  },
  help: `
Listens on 127.0.0.1 and prints an address with a token, which the browser keeps as a cookie. Everybody with the token sees
everything and, with --control, can cancel, retry and start runs and pause schedules. Every action is recorded in etl.audit.
With another --host, list the page's host names with --hosts, and put a proxy with TLS in front of it.

Examples:
  $ etl ui
  $ etl ui --port 8080
  $ etl ui --control
  $ etl ui --trace-url 'https://tempo.example/trace/{traceId}'
  $ ETL_TOKEN=$(cat token) etl ui --host 0.0.0.0 --hosts etl.example.com --secure-cookie`,
  async act(given) {
    const { io, port = 0, host = '127.0.0.1', hosts, secureCookie, token, traceUrl } = given;
    const redis = await readRedis(given);
    const control = await controlOf(given);
    const board = given.board || undefined;
    await withInterrupt(
      () => undefined,
      async ({ drain }) => {
        const { config: connection } = await openServer(given);
        const { createPage } = await import('../../page/create-page.ts');
        const { servePage } = await import('../../page/serve.ts');
        const logger = (await import('pino')).pino(
          { level: 'error' },
          { write: (line: string) => void io.stderr.write(visible(line, '\n')) },
        );
        const named = { hosts, secureCookie, token };
        const page = createPage({ ...redis, connection, ...named, logger, control, board, traceUrl });
        const server = await servePage(page, { port, host });
        try {
          io.stdout.write(`${addressOf(host, server.port)}/?token=${page.token}\n`);
          if (!drain.aborted) await once(drain, 'abort');
        } finally {
          await page.close();
          await server.close();
        }
      },
    );
  },
});
