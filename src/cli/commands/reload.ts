// `etl reload <pipeline-file> <file>` and `etl unload`: a run in which files in production are loaded again, or leave it.

import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { runFile, withRunFlags } from './run.ts';

const reloadExamples = `
The table must keep the file of each row: publish: { mode: 'append', changed: 'reload' } or gone: 'unload'.
The run also does what any run does: it loads files that are new. Files are named as \`etl files\` prints them.

Examples:
  $ etl reload pipelines/sales.ts in/2024-05-01.csv`;

const unloadExamples = `
The table must keep the file of each row: publish: { mode: 'append', changed: 'reload' } or gone: 'unload'.
Later runs do not load the file before its content changes, or \`etl reload\` asks for it.

Examples:
  $ etl unload pipelines/sales.ts in/2024-05-01.csv`;

const describe = (command: Command, summary: string, description: string): Command =>
  withRunFlags(command)
    .summary(summary)
    .description(description)
    .argument('<pipeline-file>', 'TypeScript or JavaScript file whose default export is a pipeline')
    .argument('<file...>', 'files in production, by name or location');

export const reloadCommand: CliCommand = {
  name: 'reload',
  register(program, io) {
    describe(
      program.command('reload'),
      'load files again that are in production',
      'Replaces the rows of single files by what they hold now, in one step.',
    )
      .addHelpText('after', reloadExamples)
      .action((file: string, reload: string[], _, command: Command) =>
        runFile(file, command, io, { reload }),
      );
  },
};

export const unloadCommand: CliCommand = {
  name: 'unload',
  register(program, io) {
    describe(
      program.command('unload'),
      'take the rows of files out of production',
      'Removes the rows of single files from production, in one step.',
    )
      .addHelpText('after', unloadExamples)
      .action((file: string, unload: string[], _, command: Command) =>
        runFile(file, command, io, { unload }),
      );
  },
};
