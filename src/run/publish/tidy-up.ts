// Cleans up after publishing: drops what the run no longer needs, and analyzes partitioned tables.

import { lossOf } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { keptTables } from '../../ledger/production/kept.ts';
import { retryOf } from '../../db/retry.ts';
import { quoteName } from '../../db/sql.ts';
import { tidyBuildSchema } from '../../publish/aside/build-schema.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { analyzePartitioned, takeWhole } from '../../publish/analyze.ts';
import { dropStaleStaging } from '../../db/staging.ts';
import type { RunContext, Work } from '../context.ts';
import { firstOf } from '../../core/wording.ts';
import { sourceNames } from '../../db/landing.ts';
import { dropOldVersions } from './old-versions.ts';

const analyzeTables = async (
  { client, spec, report }: Work,
  analyzed: ReadonlySet<string>,
): Promise<void> => {
  const partitioned = spec.tables.filter(
    ({ name, partitionBy }) => partitionBy !== undefined && !analyzed.has(name),
  );
  const names = partitioned.map(({ name }) => quoteName(spec.schema, name));
  for (const name of await analyzePartitioned(client, names)) {
    const message = `${name}: its statistics were not finished in time; the next run tries again, or \`analyze ${name}\``;
    report.emit({ type: 'notice', message });
  }
};

const takeBuilt = async ({ client }: Work, built: readonly BuiltTable[]): Promise<Set<string>> => {
  const analyzed = new Set<string>();
  for (const table of built)
    if (table.analyzedAs !== undefined && (await takeWhole(client, table, table.analyzedAs)))
      analyzed.add(table.table);
  return analyzed;
};

const shownMax = 5;

const readersMs = 2_000;

export const dropReplaced = async ({ client, spec, report }: RunContext): Promise<void> => {
  const left = await tidyBuildSchema(client, spec.name, readersMs);
  if (left.length === 0) return;
  const names = firstOf(left, shownMax).join(', ');
  const problem = `still read, and so not dropped: ${names}; the next run drops them`;
  report.logger.warn({ tables: left }, problem);
};

/**
 * Cleans up. Failures are only logged, because the run is published already. `built`: the published
 * tables, if known.
 */
export const tidyUp = async (context: RunContext, built: readonly BuiltTable[] = []): Promise<void> => {
  const { address, client, spec, keepStaging, report } = context;
  try {
    const analyzed = await takeBuilt(context, built);
    const [, , kept] = await askTogether(client, () => [
      dropReplaced(context),
      dropStaleStaging(context, keepStaging ? sourceNames(spec) : []),
      keptTables(client, spec.name),
    ]);
    await dropOldVersions(context, kept);
    await analyzeTables(context, analyzed);
  } catch (error) {
    // If the server is lost, the caller recovers as after any other step.
    if (retryOf(lossOf(client, address, error)) === 'server') throw error;
    report.logger.warn(
      { error },
      'the cleanup after publishing was not finished; the next run will finish it',
    );
  }
};
