// `etl db url|status|stop`: manages the embedded PostgreSQL.

import { join } from 'node:path';
import type { EmbeddedServer } from '../../db/embedded/server.ts';
import { command, group } from '../command.ts';
import { debug, toggle } from '../inputs.ts';
import type { Io } from '../io.ts';
import { alignRows } from '../layout.ts';
import { etlDirectoryOf, sayElsewhere } from '../server.ts';

const warnOfOther = async (io: Io): Promise<void> => {
  const { namesServer } = await import('../../db/connect/address.ts');
  if (namesServer(io.env) || io.env['ETL_DATABASE_URL'])
    io.stderr.write(
      'note: the environment names another server (DATABASE_URL or PG*); `etl run` uses that one\n',
    );
};

/** Returns the server's directory. Prints it if it is above the working directory. */
const locate = async (io: Io): Promise<string> => {
  const etlDirectory = await etlDirectoryOf(io);
  sayElsewhere(etlDirectory, io);
  return etlDirectory;
};

/** Removes the password, which only `etl db url` prints. */
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

const urlCommand = command({
  name: 'url',
  description: 'Starts the server if necessary, and prints its connection string.',
  takes: { debug },
  async act({ io }) {
    await warnOfOther(io);
    const { refuseEmbedded } = await import('../../db/embedded/refuse.ts');
    refuseEmbedded(io.env);
    const { startEmbedded } = await import('../../db/embedded/server.ts');
    io.stdout.write(`${(await startEmbedded(await locate(io))).url}\n`);
  },
});

const statusCommand = command({
  name: 'status',
  description: 'Shows whether the server is running, its data directory and its log.',
  takes: { debug, json: toggle('--json', 'print JSON') },
  async act({ io }) {
    const { findEmbedded } = await import('../../db/embedded/server.ts');
    const server = await findEmbedded(await locate(io));
    const { pid, directory, logFile } = server ?? {};
    const address = server && withoutPassword(server.url);
    return {
      json: [{ running: server !== undefined, pid, address, directory, logFile }],
      lines: () => (server ? describeServer(server) : ['not running']),
    };
  },
});

const stopCommand = command({
  name: 'stop',
  description: 'Stops the server; its data stays.',
  takes: { debug },
  async act({ io }) {
    const { stopEmbedded, stopDeleted } = await import('../../db/embedded/server.ts');
    // First stops a server whose .etl/ was deleted here: `locate` would find an .etl/ further up.
    if (await stopDeleted(join(io.workingDirectory, '.etl'))) {
      io.stdout.write('stopped; its data directory had been deleted\n');
      return;
    }
    io.stdout.write((await stopEmbedded(await locate(io))) ? 'stopped\n' : 'not running\n');
  },
});

export const dbCommand = group(
  {
    name: 'db',
    summary: 'show or stop the embedded server',
    description:
      'Manages the embedded PostgreSQL in .etl/ of the working directory, or of the nearest directory above.',
    help: `
The embedded server is used if neither --database-url nor DATABASE_URL nor PG* names another.
It keeps running after a run, so that you can look at the data.

Examples:
  $ psql "$(etl db url)"
  $ DATABASE_URL="$(etl db url)" npx drizzle-kit pull
  $ etl db stop`,
  },
  [urlCommand, statusCommand, stopCommand],
);
