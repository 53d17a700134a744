// Builds commander's program `etl`: commands, help and version.

import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { helpWidthMax } from '../core/limits.ts';
import { asCalled, programName } from './called.ts';
import type { CliCommand } from './command.ts';
import type { Io } from './io.ts';
import { paintFor } from './paint.ts';

const description =
  'Bulk-loads CSV files into PostgreSQL: typed, validated, published all at once or not at all.';

const examples = `
Examples:
  $ etl run pipelines/noaa.ts               load the files of a pipeline and publish its tables
  $ etl status                              the newest runs
  $ etl rejects list                        rejected records, with line and reason
  $ psql "$(etl db url)"                    look at the data of the embedded server

In a project where sluice is a dependency, \`npx etl\` runs it. The program is also called sluice. Elsewhere, use only
\`npx sluice\`: npm has another package called etl.
Without --database-url, DATABASE_URL or PG*, a run starts an embedded PostgreSQL in .etl/ of this directory.
Every flag has a variable, set in the environment or in .env: --workers is ETL_WORKERS.
Exit codes: 0 done, 1 failed, 2 wrong usage or definition, 3 too many rejects, 4 refused by a guard or a data test,
5 plan with changes, 130 or 143 stopped by a signal.

\`etl <command> --help\` shows the help of a command.`;

export const readVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

const configure = (program: Command, { stdout, stderr, env }: Io): void => {
  const paint = paintFor(stdout, env);
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(asCalled(text)),
      writeErr: (text) => void stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => Math.min(stdout.columns ?? 80, helpWidthMax),
      getErrHelpWidth: () => Math.min(stderr.columns ?? 80, helpWidthMax),
      getOutHasColors: () => paint('bold', 'x') !== 'x',
      getErrHasColors: () => false,
    })
    .configureHelp({
      styleTitle: (title) => paint('bold', title),
      showGlobalOptions: false,
      // Leaves out each flag's variable: the program's help says how variables are named.
      optionDescription: ({ description: text, argChoices: choices }) =>
        choices === undefined ? text : `${text}: ${choices.join(', ')}`,
    })
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .showSuggestionAfterError();
};

export const createProgram = (commands: readonly CliCommand[], io: Io): Command => {
  const program = new Command(programName()).description(description).usage('<command> [options]');
  configure(program, io);
  program.version(readVersion(), '-V, --version', 'show the version');
  for (const command of commands) command.register(program, io);
  return program.addHelpText('after', examples);
};
