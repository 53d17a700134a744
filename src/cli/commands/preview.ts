// `etl preview <pipeline>`: the first rows and rejects of each file, without a server.

import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { flag, paramFlag, parseCount, readFlag, readPairs, readSwitch } from '../flags.ts';
import { widthOf, type Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { paintFor } from '../paint.ts';
import { previewLines } from '../text/preview-text.ts';
import { visibleJson } from '../../core/wording.ts';

const examples = `
Values are shown as PostgreSQL prints them, times with a zone in UTC; a type with ? may be null. Reads the head of each file.
Nothing is written, and no server is needed. Duplicate keys, and invalid values of types that only the server reads, are not found.

Examples:
  $ etl preview pipelines/sales.ts
  $ etl preview pipelines/sales.ts -n 1000 --json | jq '.rejects[]'`;

const recordsDefault = 20;
/** They are held in memory. */
const recordsMax = 100_000;

const preview = async (file: string, command: Command, io: Io): Promise<void> => {
  const records = readFlag(command, 'records', parseCount(recordsMax), io) ?? recordsDefault;
  const json = readSwitch(command, 'json', io);
  const params = readPairs(command, 'param', io);
  const { pipeline, directory } = await loadPipeline(file, io);
  const { previewPipeline } = await import('../../tools/preview.ts');
  const options = { params, directory, workingDirectory: io.workingDirectory };
  const paint = paintFor(io.stdout, io.env);
  let isFirst = true;
  for await (const found of previewPipeline(pipeline, options, records)) {
    const lines = json ? [visibleJson(found)] : previewLines(found, widthOf(io.stdout), paint);
    if (!isFirst && !json) io.stdout.write('\n');
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    isFirst = false;
  }
};

export const previewCommand: CliCommand = {
  name: 'preview',
  register(program, io) {
    program
      .command('preview')
      .summary('show the first rows and rejects of each file, without a server')
      .description(
        'Shows what the first records of each file would become: typed rows, and rejects with their reasons.',
      )
      .addArgument(pipelineArgument())
      .addOption(flag('-n, --records <n>', 'how many records of each file; default: 20'))
      .addOption(paramFlag())
      .addOption(flag('--json', 'print a line of JSON for each file'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => preview(file, command, io));
  },
};
