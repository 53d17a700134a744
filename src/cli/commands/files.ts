// `etl files <pipeline-file>`: which files are in production of which table, and how those that are there now differ.

import type { Command } from 'commander';
import { formatCount } from '../../wording.ts';
import type { CliCommand } from '../command.ts';
import { flag, paramFlag, readPairs, readSwitch } from '../flags.ts';
import type { Io } from '../io.ts';
import { askServer, databaseUrlFlag } from '../server.ts';
import { formatDate } from '../text/amounts.ts';
import { alignRows, visibleText, type Alignment } from '../text/layout.ts';
import { paintFor } from '../text/paint.ts';

const examples = `
States: in production; new, not loaded yet; changed since it was loaded; corrected: rejected records of it were corrected
since; unloaded on request; gone: in production, and no longer there.

Examples:
  $ etl files pipelines/sales.ts
  $ etl files pipelines/sales.ts --json | jq '.[] | select(.state == "changed")'`;

const titles = ['table', 'file', 'state', 'run', 'rows', 'loaded'];
const alignments: readonly Alignment[] = ['left', 'left', 'left', 'right', 'right', 'left'];

const printFiles = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const params = readPairs(command, 'param', io);
  const { loadPipelineFile } = await import('../../pipeline/load-file.ts');
  const { pipeline, directory } = await loadPipelineFile(file);
  const { filesOf } = await import('../../run/list-files.ts');
  const options = { params, directory, workingDirectory: io.workingDirectory };
  const files =
    (await askServer(command, io, (client) => filesOf(pipeline, options, client))) ??
    (await filesOf(pipeline, options, undefined));
  if (json) return void io.stdout.write(`${JSON.stringify(files, null, 2)}\n`);
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
  io.stdout.write([paint('dim', title), ...lines].map((line) => `${line.trimEnd()}\n`).join(''));
};

export const filesCommand: CliCommand = {
  name: 'files',
  register(program, io) {
    program
      .command('files')
      .summary('the files of a pipeline, and which of them are in production')
      .description(
        'Lists the files of a pipeline with the state of each, and files in production that are gone.',
      )
      .argument('<pipeline-file>', 'TypeScript or JavaScript file whose default export is a pipeline')
      .addOption(databaseUrlFlag())
      .addOption(paramFlag())
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => printFiles(file, command, io));
  },
};
