// `etl db url|status|stop`: the embedded PostgreSQL of this directory.

import { join } from 'node:path';
import type { Command } from 'commander';
import type { EmbeddedServer } from '../../db/embedded/server.ts';
import type { CliCommand } from '../command.ts';
import { flag, readSwitch } from '../flags.ts';
import type { Io } from '../io.ts';
import { alignRows } from '../layout.ts';
import { etlDirectoryOf, sayElsewhere } from '../server.ts';
import { visibleJson } from '../../core/wording.ts';

const examples = `
The embedded server is used if neither --database-url nor DATABASE_URL nor PG* names another.
It keeps running after a run, so that you can look at the data.

Examples:
  $ psql "$(etl db url)"
  $ DATABASE_URL="$(etl db url)" npx drizzle-kit pull
  $ etl db stop`;

/** `etl run` would go elsewhere, which is worth knowing before looking for its tables here. */
const warnOfOther = async (io: Io): Promise<void> => {
  const { namesServer } = await import('../../db/connect/address.ts');
  if (namesServer(io.env) || io.env['ETL_DATABASE_URL'])
    io.stderr.write(
      'note: the environment names another server (DATABASE_URL or PG*); `etl run` uses that one\n',
    );
};

/** The directory of the server, said when it is another project directory's than the working one. */
const locate = async (io: Io): Promise<string> => {
  const etlDirectory = await etlDirectoryOf(io);
  sayElsewhere(etlDirectory, io);
  return etlDirectory;
};

const printUrl = async (io: Io): Promise<void> => {
  await warnOfOther(io);
  const { refuseEmbedded } = await import('../../db/embedded/refuse.ts');
  refuseEmbedded(io.env);
  const { startEmbedded } = await import('../../db/embedded/server.ts');
  io.stdout.write(`${(await startEmbedded(await locate(io))).url}\n`);
};

/** The address holds a password, which `etl db url` alone shows. */
const withoutPassword = (url: string): string => {
  const shown = new URL(url);
  shown.password = '';
  return shown.href;
};

const describeServer = ({ pid, url, directory, logFile }: EmbeddedServer): string[] =>
  alignRows(
    [
      ['running', `process ${pid}`],
      ['address', withoutPassword(url)],
      ['data', directory],
      ['log', logFile],
    ],
    ['left', 'left'],
  );

const printStatus = async (command: Command, io: Io): Promise<void> => {
  const { findEmbedded } = await import('../../db/embedded/server.ts');
  const server = await findEmbedded(await locate(io));
  if (readSwitch(command, 'json', io)) {
    const { pid, directory, logFile } = server ?? {};
    const address = server && withoutPassword(server.url);
    io.stdout.write(`${visibleJson({ running: server !== undefined, pid, address, directory, logFile })}\n`);
    return;
  }
  const lines = server ? describeServer(server) : ['not running'];
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
};

const stop = async (io: Io): Promise<void> => {
  const { stopEmbedded, stopDeleted } = await import('../../db/embedded/server.ts');
  // Before one of a directory above, which is another project's.
  if (await stopDeleted(join(io.workingDirectory, '.etl'))) {
    io.stdout.write('stopped; its data directory had been deleted\n');
    return;
  }
  io.stdout.write((await stopEmbedded(await locate(io))) ? 'stopped\n' : 'not running\n');
};

export const dbCommand: CliCommand = {
  name: 'db',
  register(program, io) {
    const db = program
      .command('db')
      .summary('show or stop the embedded server')
      .description(
        'Manages the embedded PostgreSQL in .etl/ of the working directory, or of the nearest directory above.',
      )
      .usage('<command> [options]')
      .addHelpText('after', examples);
    const add = (name: string, description: string): Command =>
      db
        .command(name)
        .description(description)
        .addOption(flag('--debug', 'print stack traces and causes of errors'));
    add('url', 'Prints only its connection string; starts it if necessary.').action(() => printUrl(io));
    add('status', 'Shows whether it is running, its data directory and its log.')
      .addOption(flag('--json', 'print JSON'))
      .action((_, command: Command) => printStatus(command, io));
    add('stop', 'Stops it; its data stays.').action(() => stop(io));
  },
};
