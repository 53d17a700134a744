// `etl prune`: deletes old runs from the bookkeeping.

import type { Command } from 'commander';
import { plural, visibleJson } from '../../core/wording.ts';
import type { PruneResult } from '../../ledger/production/upkeep.ts';
import type { CliCommand } from '../command.ts';
import { dayMs, flag, parseAge, readFlag, readSwitch } from '../flags.ts';
import { withInterrupt } from '../interrupt.ts';
import type { Io } from '../io.ts';
import { askServer, databaseUrlFlag } from '../server.ts';
import { formatBytes } from '../../core/amounts.ts';

const examples = `
Never deleted: anything needed to continue a run, to know which files are in production or to go back to a kept version, and
corrections of rejected records. Rows of production are not touched.

Examples:
  $ etl prune --dry-run
  $ etl prune --older 30d
  $ etl prune --older 30d --kept`;

/** A quarter: long enough to look back at, whatever runs every night. */
const olderDaysDefault = 90;

const resultLines = (
  { runs, files, chunks, rejects, failures, versions, bytes }: PruneResult,
  dryRun: boolean,
): string[] => [
  `${dryRun ? 'To delete' : 'Deleted'}: ${plural(runs, 'run')} with ${plural(files, 'file')}, ${plural(chunks, 'chunk')} and ${plural(rejects, 'reject')}; ` +
    `${plural(failures, 'failure')} before a run${versions === 0 ? '' : `; ${plural(versions, 'kept version')} (${formatBytes(bytes)})`}.`,
];

const nothing: PruneResult = { runs: 0, files: 0, chunks: 0, rejects: 0, failures: 0, versions: 0, bytes: 0 };

const runPrune = async (command: Command, io: Io): Promise<void> => {
  const ageMs = readFlag(command, 'older', parseAge, io) ?? olderDaysDefault * dayMs;
  const [dryRun, kept] = [readSwitch(command, 'dryRun', io), readSwitch(command, 'kept', io)];
  const json = readSwitch(command, 'json', io);
  const { prune } = await import('../../tools/prune.ts');
  const before = new Date(io.clock() - ageMs);
  const say = (signal: string): void => void io.stderr.write(`${signal}: stopping\n`);
  const result =
    (await withInterrupt(say, ({ abort: signal }) =>
      askServer(command, io, (client) => prune(client, { before, kept, dryRun, signal })),
    )) ?? nothing;
  const lines = json ? [visibleJson(result, undefined, 2)] : resultLines(result, dryRun);
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
};

export const pruneCommand: CliCommand = {
  name: 'prune',
  register(program, io) {
    program
      .command('prune')
      .summary('delete old runs from the bookkeeping')
      .description('Deletes runs that ended long ago, with their files, chunks and rejects.')
      .addOption(databaseUrlFlag())
      .addOption(flag('--older <age>', `runs that ended before this; default: ${olderDaysDefault}d`))
      .addOption(flag('--kept', 'also drop versions of tables that left production before this'))
      .addOption(flag('--dry-run', 'only show how much would be deleted'))
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((_, command: Command) => runPrune(command, io));
  },
};
