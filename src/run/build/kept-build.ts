// Keeps the built tables for the next attempt if older snapshots prevented publishing.
//
// The tables are logged, so they survive a crash of the server. Proved by
// test/modes/snapshots.test.ts, "keeps the built tables".

import { keepBuild, loadedState, takeBuild } from '../../ledger/run/kept-build.ts';
import { runQuery } from '../../db/client.ts';
import type { MadeByHand } from '../../publish/table/by-hand.ts';
import { builtName } from '../../db/names.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import type { RunContext } from '../context.ts';

type Kept = Omit<BuiltTable, 'byHand'> & { readonly byHand?: readonly (readonly [string, unknown])[] };

const basisOf = async (
  { client, spec, hashes }: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
): Promise<string> => {
  const intakes = planned.map(({ table, intake: { extent, outgoing } }) => [table.name, extent, outgoing]);
  return JSON.stringify([hashes.definition, intakes, await loadedState(client, runId, spec.schema)]);
};

export const keepBuilt = async (
  context: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
  built: readonly BuiltTable[],
): Promise<void> => {
  const basis = await basisOf(context, runId, planned);
  const tables = built.map(({ byHand, ...table }): Kept => ({
    ...table,
    ...(byHand && { byHand: [...byHand] }),
  }));
  await runQuery(context.client, keepBuild(runId, { basis, tables }));
};

/** Returns the kept tables, or undefined if a build would now read other data. */
export const takeBuilt = async (
  context: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
): Promise<readonly BuiltTable[] | undefined> => {
  const { client, report } = context;
  const kept = await takeBuild(client, runId);
  if (kept === undefined || kept.basis !== (await basisOf(context, runId, planned))) return undefined;
  const tables = (kept.tables as readonly Kept[]).map(({ byHand, ...table }): BuiltTable => ({
    ...table,
    ...(byHand && { byHand: new Map(byHand) as MadeByHand }),
  }));
  const { rows } = await client.query(
    'select bool_and(to_regclass(name) is not null) as there from unnest($1::text[]) as name',
    [tables.map(builtName)],
  );
  if (rows[0].there !== true) return undefined;
  const message = 'the tables that this run built earlier are published; nothing is built again';
  report.emit({ type: 'notice', message });
  return tables;
};
