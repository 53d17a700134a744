// `etl doctor`: is this server fit for bulk loading, and what would improve it?

import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { EtlError } from '../../core/errors/errors.ts';
import { workersMax } from '../../core/limits.ts';
import type { Finding, Verdict } from '../../tools/doctor.ts';
import { plural, visibleJson } from '../../core/wording.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseCount, readFlag, readSwitch } from '../flags.ts';
import type { Io } from '../io.ts';
import { alignRows, visibleText } from '../layout.ts';
import { paintFor, type Paint, type Style } from '../paint.ts';
import { databaseUrlFlag, openServer } from '../server.ts';

const examples = `
It changes nothing. docs/operations/server.md explains the advice.
Exit codes: 0 if a run can work on the server, 1 if it would be refused or fail.

Examples:
  $ etl doctor
  $ etl doctor --workers 8 --database-url postgres://me@db.example.com/weather
  $ etl doctor --json | jq -r 'select(.verdict != "ok") | [.name, .value, .advice] | @tsv'`;

const styles: Readonly<Record<Verdict, Style>> = { ok: 'green', advice: 'yellow', problem: 'red' };

/** One line a finding, and under it the advice, if there is any. */
export const findingLines = (findings: readonly Finding[], paint: Paint): string[] => {
  const rows = findings.map(({ name, value, verdict }) => [
    paint(styles[verdict], verdict),
    visibleText(name),
    visibleText(value),
  ]);
  const aligned = alignRows(rows, ['left', 'left', 'left']);
  const count = (verdict: Verdict): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const pieces = count('advice') === 1 ? '1 piece of advice' : `${count('advice')} pieces of advice`;
  const indent = ' '.repeat(2 + Math.max(...findings.map(({ verdict }) => verdict.length)));
  return [
    ...findings.flatMap(({ advice }, place) => [
      aligned[place]!,
      ...(advice === undefined ? [] : [indent + visibleText(advice)]),
    ]),
    '',
    `${plural(count('problem'), 'problem')}, ${pieces}`,
  ];
};

const examine = async (command: Command, io: Io): Promise<void> => {
  const workers = readFlag(command, 'workers', parseCount(workersMax), io) ?? availableParallelism();
  const json = readSwitch(command, 'json', io);
  const server = await openServer(command, io, (text) => void io.stderr.write(`${text}\n`));
  const { withClient } = await import('../../db/client.ts');
  const { examineServer } = await import('../../tools/doctor.ts');
  const { chooseBackend } = await import('../../queue/choose-backend.ts');
  const demand = { workers, backend: chooseBackend(server, undefined, io.env) };
  const findings = await withClient(server, (client) => examineServer(client, server, demand));
  const paint = paintFor(io.stdout, io.env);
  const lines = json
    ? findings.map((finding) => visibleJson({ type: 'finding', ...finding }))
    : [paint('bold', server.label), ...findingLines(findings, paint)];
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  const problems = findings.filter(({ verdict }) => verdict === 'problem').map(({ name }) => name);
  if (problems.length > 0)
    throw new EtlError('ETL_SERVER_UNFIT', { server: server.label, problems: problems.join(', ') });
};

export const doctorCommand: CliCommand = {
  name: 'doctor',
  register(program, io) {
    program
      .command('doctor')
      .summary('check whether the server suits bulk loading')
      .description('Checks the server: settings, connections, disk, unlogged tables, crashes, privileges.')
      .addOption(databaseUrlFlag())
      .addOption(flag('--workers <n>', 'number of parallel loads to check for; default: the number of cores'))
      .addOption(flag('--json', 'print every finding as one line of JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((_, command: Command) => examine(command, io));
  },
};
