// `etl rollback <pipeline>`: puts an earlier version of the tables into production, or lists the kept versions.

import type { Command } from 'commander';
import { formatCount, visibleJson } from '../../core/wording.ts';
import type { KeptVersion } from '../../ledger/production/upkeep.ts';
import type { RollbackResult } from '../../tools/rollback.ts';
import type { CliCommand } from '../command.ts';
import { flag, paramFlag, parseCount, parseNames, readFlag, readPairs, readSwitch } from '../flags.ts';
import { withInterrupt } from '../interrupt.ts';
import type { Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { askServer, databaseUrlFlag, openServer } from '../server.ts';
import { formatBytes, formatDate } from '../../core/amounts.ts';
import { alignRows, visibleText, type Alignment } from '../layout.ts';
import { paintFor } from '../paint.ts';

const examples = `
Tables declared with keep: 1 or more keep earlier versions. All tables that a run published go back together.
Without \`--to\` the newest load is undone; a second time nothing changes, and \`--to\` goes further back. The version that
is replaced is kept, so \`--to\` can also go forward again.
The next run refuses to load the same files with the same definition again: correct one of them first.

Examples:
  $ etl rollback pipelines/sales.ts --list
  $ etl rollback pipelines/sales.ts
  $ etl rollback pipelines/sales.ts --to 12`;

const titles = ['table', 'run', 'rows', 'size', 'replaced by', 'on', 'kept as'];
const alignments: readonly Alignment[] = ['left', 'right', 'right', 'right', 'right', 'left', 'left'];

const versionLines = (versions: readonly KeptVersion[], io: Io): string[] => {
  if (versions.length === 0) return ['no earlier version is kept'];
  const rows = versions.map(({ table, schema, run, rows: count, bytes, replacedBy, keptAt, location }) => [
    visibleText(`${schema}.${table}`),
    run === 0 ? '–' : String(run),
    count === null ? '–' : formatCount(count),
    formatBytes(bytes),
    `run ${replacedBy}`,
    formatDate(keptAt),
    location,
  ]);
  const [title = '', ...lines] = alignRows([titles, ...rows], alignments);
  return [paintFor(io.stdout, io.env)('dim', title), ...lines];
};

const list = async (name: string, json: boolean, command: Command, io: Io): Promise<void> => {
  const { listVersionsOn } = await import('../../tools/list-versions.ts');
  const versions = (await askServer(command, io, (client) => listVersionsOn(client, name))) ?? [];
  const lines = json ? [visibleJson(versions, undefined, 2)] : versionLines(versions, io);
  io.stdout.write(lines.map((line) => `${line.trimEnd()}\n`).join(''));
};

const resultLines = ({ pipeline, runId, to, tables, undone, withdrawn }: RollbackResult): string[] => {
  const state = to === 0 ? 'before its first run' : `of run ${to}`;
  if (runId === null) return [`Nothing to do: production of ${visibleText(pipeline)} is as ${state}.`];
  const refused = `The next run refuses to publish run ${undone} again`;
  const until =
    withdrawn.length === 0
      ? [`${refused} before its definition has changed; --full-refresh publishes it all the same.`]
      : [
          `${refused}: it waits until you correct or remove`,
          `  ${withdrawn.map((name) => visibleText(name)).join(', ')}`,
          'or change the definition; --full-refresh publishes it all the same.',
        ];
  return [
    `Run ${runId}: production of ${visibleText(pipeline)} is as ${state} again.`,
    ...tables.map(({ schema, table, rows, rowsBefore }) => {
      const before = rowsBefore === null ? '' : ` (before: ${formatCount(rowsBefore)})`;
      return `  ${visibleText(`${schema}.${table}`)}: ${formatCount(rows)} rows${before}`;
    }),
    ...(undone === null ? [] : [...until, `Run ${undone} is kept: --to ${undone} goes back to it.`]),
  ];
};

const rollBack = async (file: string, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const params = readPairs(command, 'param', io);
  const to = readFlag(command, 'to', parseCount(Number.MAX_SAFE_INTEGER), io);
  const tables = readFlag(command, 'table', parseNames, io);
  const { pipeline, directory } = await loadPipeline(file, io);
  if (readSwitch(command, 'list', io)) return list(pipeline.name, json, command, io);
  const stopping = (signal: string): void => void io.stderr.write(`${signal}: stopping\n`);
  const result = await withInterrupt(stopping, async ({ abort: signal }) => {
    const server = await openServer(command, io);
    const { rollbackPipeline } = await import('../../tools/rollback.ts');
    return rollbackPipeline(pipeline, {
      connection: server.config,
      params,
      directory,
      workingDirectory: io.workingDirectory,
      signal,
      ...(to !== undefined && { to }),
      ...(tables && { tables }),
      onEvent: (event) => event.type === 'notice' && io.stderr.write(`note: ${event.message}\n`),
    });
  });
  const lines = json ? [visibleJson(result, undefined, 2)] : resultLines(result);
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
};

export const rollbackCommand: CliCommand = {
  name: 'rollback',
  register(program, io) {
    program
      .command('rollback')
      .summary('put an earlier version of the tables into production')
      .description('Puts the tables back as an earlier run published them, all in one step.')
      .addArgument(pipelineArgument())
      .addOption(databaseUrlFlag())
      .addOption(paramFlag())
      .addOption(flag('--to <run>', 'the run to go back to; default: the one before the newest load'))
      .addOption(flag('--table <name>', 'only these tables (comma-separated)'))
      .addOption(flag('--list', 'list the versions that are kept, and change nothing'))
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((file: string, _, command: Command) => rollBack(file, command, io));
  },
};
