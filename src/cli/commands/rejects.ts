// `etl rejects list [run]`: the records that were refused, where they stand and why.

import type { Command } from 'commander';
import { rejectsListedDefault, rejectsListedMax } from '../../limits.ts';
import type { RejectList, RejectRow } from '../../run/history.ts';
import { formatCount, plural } from '../../wording.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseCount, parseRunId, parseString, readFlag, readSwitch } from '../flags.ts';
import { widthOf, type Io } from '../io.ts';
import { clip, visibleText } from '../layout.ts';
import { paintFor, type Paint } from '../paint.ts';
import { askServer, databaseUrlFlag } from '../server.ts';

const examples = `
Without a run: the newest that rejected anything. The codes are explained in docs/reference/errors.md.

Examples:
  $ etl rejects list
  $ etl rejects list 12 --table observation --limit 500
  $ etl rejects list --json | jq -r '.rejects[] | [.file, .line, .reason] | @tsv'`;

const rejectLines = (reject: RejectRow, paint: Paint): string[] => {
  const column = reject.column === null ? '' : ` column ${visibleText(reject.column)}:`;
  return [
    `${paint('bold', `${visibleText(reject.file)}:${reject.line}`)}:${column} ` +
      `${paint('yellow', reject.code)}: ${visibleText(reject.reason)}`,
    paint('dim', `    ${visibleText(reject.raw)}`),
  ];
};

const listLines = ({ runId, rejects, total }: RejectList, paint: Paint): string[] => {
  if (runId === undefined) return ['no rejects'];
  const head = `run ${runId}: ${plural(total, 'reject')}`;
  const shown =
    rejects.length < total ? `, the first ${formatCount(rejects.length)} of them (--limit shows more)` : '';
  return [`${head}${shown}`, ...rejects.flatMap((reject) => rejectLines(reject, paint))];
};

const printRejects = async (run: string | undefined, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const query = {
    runId: parseRunId(run),
    table: readFlag(command, 'table', parseString, io) ?? null,
    limit: readFlag(command, 'limit', parseCount(rejectsListedMax), io) ?? rejectsListedDefault,
  };
  const { listRejects } = await import('../../run/history.ts');
  const found = await askServer(command, io, (client) => listRejects(client, query));
  if (json) {
    io.stdout.write(`${JSON.stringify(found ?? { rejects: [], total: 0 }, null, 2)}\n`);
    return;
  }
  const lines = found ? listLines(found, paintFor(io.stdout, io.env)) : ['no runs yet'];
  io.stdout.write(lines.map((line) => `${clip(line, widthOf(io.stdout))}\n`).join(''));
};

export const rejectsCommand: CliCommand = {
  name: 'rejects',
  register(program, io) {
    program
      .command('rejects')
      .summary('records that were refused, with line and reason')
      .description('Shows the records that a run refused.')
      .usage('<command> [options]')
      .command('list')
      .description('Lists rejected records: file and line, column, code, reason, and the record itself.')
      .argument('[run]', 'number of a run')
      .addOption(databaseUrlFlag())
      .addOption(flag('--table <table>', 'only those of this table'))
      .addOption(flag('--limit <n>', `how many to list; default: ${rejectsListedDefault}`))
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'show traces and causes of errors'))
      .addHelpText('after', examples)
      .action((run: string | undefined, _, command: Command) => printRejects(run, command, io));
  },
};
