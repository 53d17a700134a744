// `etl ui`: the page in a browser, until it is stopped.

import { once } from 'node:events';
import type { Command } from 'commander';
import { EtlError } from '../../core/errors/errors.ts';
import { portMax } from '../../core/limits.ts';
import type { PageControl } from '../../page/options.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseCount, parseNames, parseString, readFlag, readSwitch } from '../flags.ts';
import { withInterrupt } from '../interrupt.ts';
import type { Io } from '../io.ts';
import { defaultFolder } from '../pipeline.ts';
import { readRedis, redisPrefixFlag } from '../redis.ts';
import { databaseUrlFlag, openServer } from '../server.ts';
import { visible } from '../../core/wording.ts';

const examples = `
It listens on 127.0.0.1 and prints an address with a token, which the browser keeps as a cookie. On another address, list the
host names by which it is reached with --hosts, and put TLS in front of it: everybody with the token sees everything, and with
--control may cancel, retry and start runs and pause schedules. Every action is recorded in etl.audit.

Examples:
  $ etl ui
  $ etl ui --port 8080
  $ etl ui --control
  $ etl ui --trace-url 'https://tempo.example/trace/{traceId}'
  $ ETL_TOKEN=$(cat token) etl ui --host 0.0.0.0 --hosts etl.example.com --secure-cookie`;

/** Every address of the machine: that of the machine itself is answered, too. */
const anyAddress = new Set(['0.0.0.0', '::']);

/** What visitors can do: nothing, unless it was asked for. */
const readControl = async (command: Command, io: Io): Promise<PageControl | false> => {
  const folder = readFlag(command, 'pipelines', parseString, io);
  if (!readSwitch(command, 'control', io)) return false;
  if (readSwitch(command, 'readOnly', io))
    throw new EtlError('ETL_USAGE', {
      problem: '--control and --read-only contradict each other',
      hint: 'Without either, the page only reads.',
    });
  const { existsSync } = await import('node:fs');
  if (folder === undefined) return existsSync(defaultFolder) ? { pipelines: defaultFolder } : {};
  const { pipelinesOf } = await import('../../worker/catalog.ts');
  // One that was named must be there.
  await pipelinesOf(folder);
  return { pipelines: folder };
};

const serve = async (command: Command, io: Io): Promise<void> => {
  const port = readFlag(command, 'port', parseCount(portMax), io) ?? 0;
  const host = readFlag(command, 'host', parseString, io) ?? '127.0.0.1';
  const hosts = readFlag(command, 'hosts', parseNames, io);
  const secureCookie = readSwitch(command, 'secureCookie', io);
  const token = readFlag(command, 'token', parseString, io);
  const redis = await readRedis(command, io);
  const control = await readControl(command, io);
  const board = readSwitch(command, 'board', io) || undefined;
  const traceUrl = readFlag(command, 'traceUrl', parseString, io);
  await withInterrupt(
    () => undefined,
    async ({ drain }) => {
      const { config: connection } = await openServer(command, io);
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
        const near = anyAddress.has(host) ? '127.0.0.1' : host;
        const shown = near.includes(':') ? `[${near}]` : near;
        io.stdout.write(`http://${shown}:${server.port}/?token=${page.token}\n`);
        if (!drain.aborted) await once(drain, 'abort');
      } finally {
        await page.close();
        await server.close();
      }
    },
  );
};

export const uiCommand: CliCommand = {
  name: 'ui',
  register(program, io) {
    program
      .command('ui')
      .summary('serve the web page: runs, chunks, rejects, schedules')
      .description(
        'Serves a page that shows runs, chunks, rejects, files, schedules and queues, until it is stopped.',
      )
      .addOption(databaseUrlFlag())
      .addOption(redisPrefixFlag())
      .addOption(flag('--port <port>', 'port to listen on; default: any that is free'))
      .addOption(flag('--host <host>', 'address to listen on; default: 127.0.0.1'))
      .addOption(
        flag(
          '--hosts <names>',
          'names in the Host header that are answered, comma-separated; default: those of this machine',
        ),
      )
      .addOption(flag('--secure-cookie', 'mark the cookie Secure: visitors come through a proxy with TLS'))
      .addOption(flag('--token <token>', 'secret that visitors need; default: a random one'))
      .addOption(flag('--read-only', 'visitors change nothing; the default'))
      .addOption(flag('--control', 'visitors may cancel, retry and start runs, and pause schedules'))
      .addOption(
        flag(
          '--pipelines <folder>',
          `with --control, pipelines that can be run; default: ${defaultFolder}, if it is there`,
        ),
      )
      .addOption(
        flag(
          '--trace-url <template>',
          'address of a trace, with {traceId}; default: runs show its number alone',
        ),
      )
      .addOption(flag('--board', "require BullMQ's board; it is there when @bull-board is installed"))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((_, command: Command) => serve(command, io));
  },
};
