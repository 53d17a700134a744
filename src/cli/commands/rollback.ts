// `etl rollback <pipeline>`: publishes an earlier version of the tables again, or lists versions.

import { formatCount } from '../../core/wording.ts';
import type { KeptVersion } from '../../ledger/production/upkeep.ts';
import type { RollbackResult } from '../../tools/rollback.ts';
import { command } from '../command.ts';
import { countFlag, databaseUrl, namesFlag, printing, params, pipelineArgument, toggle } from '../inputs.ts';
import { withInterrupt } from '../interrupt.ts';
import { openPipeline } from '../pipeline.ts';
import { askServer, openKnownServer } from '../server.ts';
import { formatBytes, formatDate } from '../../core/amounts.ts';
import { alignTitled, visibleText, type Alignment } from '../layout.ts';
import type { Paint } from '../paint.ts';

const titles = ['table', 'run', 'rows', 'size', 'replaced by', 'on', 'kept as'];
const alignments: readonly Alignment[] = ['left', 'right', 'right', 'right', 'right', 'left', 'left'];

const versionLines = (versions: readonly KeptVersion[], paint: Paint): string[] => {
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
  return alignTitled(titles, rows, alignments, paint);
};

const resultLines = ({ pipeline, runId, to, tables, undone, withdrawn }: RollbackResult): string[] => {
  const tablesOf = `the tables of ${visibleText(pipeline)} are`;
  const state = to === 0 ? 'as before the first run' : `as run ${to} published them`;
  if (runId === null) return [`Nothing to do: ${tablesOf} ${state}.`];
  const refused = `The next run refuses to publish the data of run ${undone} again`;
  const until =
    withdrawn.length === 0
      ? [`${refused} until the definition changes; --full-refresh publishes it anyway.`]
      : [
          `${refused} until you correct or remove`,
          `  ${withdrawn.map((name) => visibleText(name)).join(', ')}`,
          'or change the definition; --full-refresh publishes it anyway.',
        ];
  return [
    `Run ${runId}: ${tablesOf} again ${state}.`,
    ...tables.map(({ schema, table, rows, rowsBefore }) => {
      const before = rowsBefore === null ? '' : ` (before: ${formatCount(rowsBefore)})`;
      return `  ${visibleText(`${schema}.${table}`)}: ${formatCount(rows)} rows${before}`;
    }),
    ...(undone === null ? [] : [...until, `Run ${undone} is kept: --to ${undone} goes back to it.`]),
  ];
};

export const rollbackCommand = command({
  name: 'rollback',
  summary: 'put an earlier version of the tables into production',
  description: 'Puts the tables back as an earlier run published them, all in one step.',
  takes: {
    file: pipelineArgument,
    databaseUrl,
    params,
    to: countFlag('--to <run>', 'the run to go back to; default: the one before the newest load'),
    tables: namesFlag('--table <name>', 'only these tables (comma-separated)'),
    list: toggle('--list', 'list the versions that are kept, and change nothing'),
    ...printing(),
  },
  help: `
Earlier versions exist of tables declared with keep: 1 or more. All tables that a run published go back together.
Without --to, undoes the newest load; a second time changes nothing. --to goes further back, or forward again, because the
replaced version is kept.
The next run refuses to load the same files with the same definition: correct a file or the definition first.

Examples:
  $ etl rollback pipelines/sales.ts --list
  $ etl rollback pipelines/sales.ts
  $ etl rollback pipelines/sales.ts --to 12`,
  async act(given) {
    const { io, to, tables } = given;
    const { pipeline, options } = await openPipeline(given);
    if (given.list) {
      const { listVersionsOn } = await import('../../tools/list-versions.ts');
      const versions = (await askServer(given, (client) => listVersionsOn(client, pipeline.name))) ?? [];
      return { json: [versions], isIndented: true, lines: ({ paint }) => versionLines(versions, paint) };
    }
    const stopping = (signal: string): void => void io.stderr.write(`${signal}: stopping\n`);
    const result = await withInterrupt(stopping, async ({ abort: signal }) => {
      const { config: connection } = await openKnownServer(given);
      const { rollbackPipeline } = await import('../../tools/rollback.ts');
      return rollbackPipeline(pipeline, {
        ...options,
        connection,
        signal,
        to,
        tables,
        onEvent: (event) => event.type === 'notice' && io.stderr.write(`note: ${event.message}\n`),
      });
    });
    return { json: [result], isIndented: true, lines: () => resultLines(result) };
  },
});
