// `etl files <pipeline>`: which files are in production, and how the current ones differ; `etl reload` and `etl unload`:
// a run in which some of them are loaded again, or leave.

import type { Command } from 'commander';
import { formatCount, visibleJson } from '../../core/wording.ts';
import type { CliCommand } from '../command.ts';
import { flag, paramFlag, readPairs, readSwitch } from '../flags.ts';
import type { Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { askServer, databaseUrlFlag } from '../server.ts';
import { formatDate } from '../../core/amounts.ts';
import { alignRows, visibleText, type Alignment } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { runFile, withRunFlags } from './run.ts';

const examples = `
States: in production; moved: in production under another name; new, not loaded yet; copy: new, and a run would refuse it as
a copy of another file; changed since it was loaded; corrected: rejected records of it were corrected since; unloaded on
request; gone: in production, but no longer listed.

Examples:
  $ etl files pipelines/sales.ts
  $ etl files pipelines/sales.ts --json | jq '.[] | select(.state == "changed")'`;

const titles = ['table', 'file', 'state', 'run', 'rows', 'loaded'];
const alignments: readonly Alignment[] = ['left', 'left', 'left', 'right', 'right', 'left'];

const printFiles = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const params = readPairs(command, 'param', io);
  const { pipeline, directory } = await loadPipeline(file, io);
  const { filesOf } = await import('../../tools/file-states.ts');
  const options = { params, directory, workingDirectory: io.workingDirectory };
  const files =
    (await askServer(command, io, (client) => filesOf(pipeline, options, client))) ??
    (await filesOf(pipeline, options, undefined));
  if (json) return void io.stdout.write(`${visibleJson(files, undefined, 2)}\n`);
  const rows = files.map(({ table, file: name, state, run, rows: count, publishedAt }) => [
    visibleText(table),
    visibleText(name),
    state,
    run === null ? '' : String(run),
    count === null ? '' : formatCount(count),
    publishedAt === null ? '' : formatDate(publishedAt),
  ]);
  const [title = '', ...lines] = alignRows([titles, ...rows], alignments);
  const paint = paintFor(io.stdout, io.env);
  const problems = files.flatMap(({ problem }) =>
    problem === null ? [] : [`a run would refuse ${problem}`],
  );
  const notes = problems.length === 0 ? [] : ['', ...problems.map(visibleText)];
  io.stdout.write([paint('dim', title), ...lines, ...notes].map((line) => `${line.trimEnd()}\n`).join(''));
};

export const filesCommand: CliCommand = {
  name: 'files',
  register(program, io) {
    program
      .command('files')
      .summary('list the files of a pipeline, and which are in production')
      .description(
        'Lists the files of a pipeline with the state of each, and files in production that are gone.',
      )
      .addArgument(pipelineArgument())
      .addOption(databaseUrlFlag())
      .addOption(paramFlag())
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => printFiles(file, command, io));
  },
};

const reloadExamples = `
The table must keep the file of each row: publish: { mode: 'append', changed: 'reload' }, gone: 'unload' or only: 'touched'.
The run also does what any run does: it loads files that are new. Files are named as \`etl files\` prints them.

Examples:
  $ etl reload pipelines/sales.ts in/2024-05-01.csv`;

const unloadExamples = `
The table must keep the file of each row: publish: { mode: 'append', changed: 'reload' }, gone: 'unload' or only: 'touched'.
Later runs do not load the file until its content changes or you run \`etl reload\`.

Examples:
  $ etl unload pipelines/sales.ts in/2024-05-01.csv`;

const describe = (command: Command, summary: string, description: string): Command =>
  withRunFlags(command)
    .summary(summary)
    .description(description)
    .addArgument(pipelineArgument())
    .argument('<file...>', 'files in production, by name or location');

export const reloadCommand: CliCommand = {
  name: 'reload',
  register(program, io) {
    describe(
      program.command('reload'),
      'load files again that are in production',
      'Replaces the rows of single files with their current content, in one step.',
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
