// `etl doctor`: checks whether the server suits bulk loading, and advises what to change.

import { availableParallelism } from 'node:os';
import { EtlError } from '../../core/errors/errors.ts';
import { workersMax } from '../../core/limits.ts';
import type { Finding, Verdict } from '../../tools/doctor.ts';
import { plural } from '../../core/wording.ts';
import { command } from '../command.ts';
import { countFlag, databaseUrl, printing } from '../inputs.ts';
import { alignRows, visibleText } from '../layout.ts';
import type { Paint, Style } from '../paint.ts';
import { openServer } from '../server.ts';

const styles: Readonly<Record<Verdict, Style>> = { ok: 'green', advice: 'yellow', problem: 'red' };

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
    ...findings.flatMap(({ advice }, index) => [
      aligned[index]!,
      ...(advice === undefined ? [] : [indent + visibleText(advice)]),
    ]),
    '',
    `${plural(count('problem'), 'problem')}, ${pieces}`,
  ];
};

export const doctorCommand = command({
  name: 'doctor',
  summary: 'check whether the server suits bulk loading',
  description: 'Checks the server: settings, connections, disk, unlogged tables, crashes, privileges.',
  takes: {
    databaseUrl,
    workers: countFlag(
      '--workers <n>',
      'number of parallel loads to check for; default: the number of cores',
      workersMax,
    ),
    ...printing('print every finding as one line of JSON'),
  },
  help: `
Changes nothing. docs/operations/server.md explains the advice.
Exit codes: 0 if a run can work on the server, 1 if it would be refused or fail.

Examples:
  $ etl doctor
  $ etl doctor --workers 8 --database-url postgres://me@db.example.com/weather
  $ etl doctor --json | jq -r 'select(.verdict != "ok") | [.name, .value, .advice] | @tsv'`,
  async act(given) {
    const { io, workers = availableParallelism() } = given;
    const server = await openServer(given);
    const { withClient } = await import('../../db/client.ts');
    const { examineServer } = await import('../../tools/doctor.ts');
    const { chooseBackend } = await import('../../queue/choose-backend.ts');
    const demand = { workers, backend: chooseBackend(server, undefined, io.env) };
    const findings = await withClient(server, (client) => examineServer(client, server, demand));
    const problems = findings.filter(({ verdict }) => verdict === 'problem').map(({ name }) => name);
    return {
      json: findings.map((finding) => ({ type: 'finding', ...finding })),
      lines: ({ paint }) => [paint('bold', server.label), ...findingLines(findings, paint)],
      error:
        problems.length > 0
          ? new EtlError('ETL_SERVER_UNFIT', { server: server.label, problems: problems.join(', ') })
          : undefined,
    };
  },
});
