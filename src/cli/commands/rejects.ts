// `etl rejects list|show|export|replay|withdraw`: rejected records and their corrections.

import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { flag } from '../flags.ts';
import type { Io } from '../io.ts';
import { databaseUrlFlag } from '../server.ts';
import { exportExamples, exportRejects } from './export.ts';
import { listExamples, listRejects } from './list.ts';
import { replayExamples, replayRejects } from './replay.ts';
import { showExamples, showRejects } from './show.ts';
import { withdrawExamples, withdrawRejects } from './withdraw.ts';

const pipelineFlag = () => flag('--pipeline <name>', 'the newest run of this pipeline with rejects');
const tableFlag = () => flag('--table <table>', 'only rejects of this table');
const debugFlag = () => flag('--debug', 'print stack traces and causes of errors');

const addList = (rejects: Command, io: Io): void => {
  rejects
    .command('list')
    .description(
      'Summarizes why records were rejected, or lists them: file, line, column, code, reason, record.',
    )
    .argument('[run]', 'number of a run')
    .addOption(databaseUrlFlag())
    .addOption(pipelineFlag())
    .addOption(tableFlag())
    .addOption(flag('--limit <n>', 'list the first n records'))
    .addOption(flag('--all', 'list every record'))
    .addOption(flag('--json', 'print JSON'))
    .addOption(debugFlag())
    .addHelpText('after', listExamples)
    .action((run: string | undefined, _, command: Command) => listRejects(run, command, io));
};

const addShow = (rejects: Command, io: Io): void => {
  rejects
    .command('show')
    .description('Shows a rejected record in full: its place, every fault, its fields, its text.')
    .argument('<place>', 'file and line, as `etl rejects list` prints them: prices.csv:35')
    .argument('[run]', 'number of a run')
    .addOption(databaseUrlFlag())
    .addOption(pipelineFlag())
    .addOption(tableFlag())
    .addOption(flag('--json', 'print JSON'))
    .addOption(debugFlag())
    .addHelpText('after', showExamples)
    .action((place: string, run: string | undefined, _, command: Command) =>
      showRejects(place, run, command, io),
    );
};

const addExport = (rejects: Command, io: Io): void => {
  rejects
    .command('export')
    .description('Writes the rejected records of a table to a CSV, with the faults of each, for correction.')
    .argument('[run]', 'number of a run')
    .addOption(databaseUrlFlag())
    .addOption(pipelineFlag())
    .addOption(tableFlag())
    .addOption(flag('--file <name>', 'only rejects of this file'))
    .addOption(flag('--corrected', 'also records that were corrected since'))
    .addOption(flag('-o, --output <path>', 'file to write, which must not exist; default, and -: stdout'))
    .addOption(flag('--bom', 'begin with a byte order mark, by which Excel recognizes UTF-8'))
    .addOption(flag('--json', 'with --output, print what was written as JSON'))
    .addOption(debugFlag())
    .addHelpText('after', exportExamples)
    .action((run: string | undefined, _, command: Command) => exportRejects(run, command, io));
};

const addReplay = (rejects: Command, io: Io): void => {
  rejects
    .command('replay')
    .description('Stores corrected records, which the next run loads in place of the rejected ones.')
    .argument('<file>', 'CSV that `etl rejects export` wrote, corrected')
    .addOption(databaseUrlFlag())
    .addOption(flag('--json', 'print what was stored as JSON'))
    .addOption(debugFlag())
    .addHelpText('after', replayExamples)
    .action((file: string, _, command: Command) => replayRejects(file, command, io));
};

const addWithdraw = (rejects: Command, io: Io): void => {
  rejects
    .command('withdraw')
    .description('Withdraws corrections that no run has loaded.')
    .argument('<file>', 'CSV of their records, as it was given to `etl rejects replay`')
    .addOption(databaseUrlFlag())
    .addOption(flag('--json', 'print what was withdrawn as JSON'))
    .addOption(debugFlag())
    .addHelpText('after', withdrawExamples)
    .action((file: string, _, command: Command) => withdrawRejects(file, command, io));
};

export const rejectsCommand: CliCommand = {
  name: 'rejects',
  register(program, io) {
    const rejects = program
      .command('rejects')
      .summary('show rejected records with line and reason, and correct them')
      .description('Shows rejected records of a run, and takes them back corrected.')
      .usage('<command> [options]');
    for (const add of [addList, addShow, addExport, addReplay, addWithdraw]) add(rejects, io);
  },
};
