// `etl prune`: deletes old runs from the bookkeeping.

import { plural } from '../../core/wording.ts';
import type { PruneResult } from '../../ledger/production/upkeep.ts';
import { command } from '../command.ts';
import { databaseUrl, flag, printing, toggle } from '../inputs.ts';
import { withInterrupt } from '../interrupt.ts';
import { dayMs, parseAge } from '../parsers.ts';
import { askServer } from '../server.ts';
import { formatBytes } from '../../core/amounts.ts';

/** A quarter of a year keeps 90 runs of a nightly pipeline. */
const olderDaysDefault = 90;

const resultLines = (
  { runs, files, chunks, rejects, failures, versions, bytes }: PruneResult,
  dryRun: boolean,
): string[] => [
  `${dryRun ? 'To delete' : 'Deleted'}: ${plural(runs, 'run')} with ${plural(files, 'file')}, ${plural(chunks, 'chunk')} and ${plural(rejects, 'reject')}; ` +
    `${plural(failures, 'failure')} before a run began${versions === 0 ? '' : `; ${plural(versions, 'kept version')} (${formatBytes(bytes)})`}.`,
];

const nothing: PruneResult = { runs: 0, files: 0, chunks: 0, rejects: 0, failures: 0, versions: 0, bytes: 0 };

export const pruneCommand = command({
  name: 'prune',
  summary: 'delete old runs from the bookkeeping',
  description: 'Deletes runs that ended long ago, with their files, chunks and rejects.',
  takes: {
    databaseUrl,
    older: flag(
      '--older <age>',
      `delete runs that ended so long ago; default: ${olderDaysDefault}d`,
      parseAge,
    ),
    kept: toggle('--kept', 'also drop versions of tables that were replaced so long ago'),
    dryRun: toggle('--dry-run', 'only show how much would be deleted'),
    ...printing(),
  },
  help: `
Keeps what is needed to continue a run, to know which files are in production and to roll back to a kept version, and all
corrections of rejected records. Does not touch rows of production.

Examples:
  $ etl prune --dry-run
  $ etl prune --older 30d
  $ etl prune --older 30d --kept`,
  async act(given) {
    const { io, older = olderDaysDefault * dayMs, kept, dryRun } = given;
    const { prune } = await import('../../tools/prune.ts');
    const before = new Date(io.clock() - older);
    const say = (signal: string): void => void io.stderr.write(`${signal}: stopping\n`);
    const pruned = await withInterrupt(say, ({ abort: signal }) =>
      askServer(given, (client) => prune(client, { before, kept, dryRun, signal })),
    );
    const result = pruned ?? nothing;
    return { json: [result], isIndented: true, lines: () => resultLines(result, dryRun) };
  },
});
