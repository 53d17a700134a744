// Compares the new rows of each table with production, and refuses tables that have too few rows.

import { selectRecorded, type Recorded } from '../../ledger/production/published-tables.ts';
import type { Guard } from '../../core/declaration.ts';
import { runQuery, withTransaction, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { countRows } from '../../db/rows.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import { productionName, type TableNames } from '../../db/names.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import { firstOf, formatCount, plural, asList } from '../../core/wording.ts';
import type { RunContext, Work } from '../context.ts';

const namedMax = 5;

/** How long a count waits for its lock. If it fails, publishing is attempted again. */
const countLockMs = 2_000;

/** Counts rows under a lock that does not block readers. */
const countProduction = (client: Client, table: TableNames): Promise<number> =>
  withTransaction(client, async () => {
    await client.query(`set local lock_timeout = ${countLockMs}`);
    return countRows(client, productionName(table));
  });

/** Row counts. `before`: null if production has no table. */
interface Measured {
  readonly before: number | null;
  readonly after: number;
  readonly replaced: number;
  /** A notice if partitions were dropped or attached since the last run. */
  readonly otherParts?: string;
}

const isPassed = ({ rowsMin, shrinkMaxPercent }: Guard, { before, after, replaced }: Measured): boolean =>
  after >= rowsMin && ((before ?? 0) - after) * 100 <= shrinkMaxPercent * replaced;

const otherPartsText = ({ schema, table }: TableNames, { run, rows }: Recorded, counted: number): string =>
  `${schema}.${table}: partitions were dropped, detached or attached since run ${run}, which left it with ${plural(rows, 'row')}; ` +
  `it has ${formatCount(counted)}`;

export type RecordedRows = readonly (Recorded | null | undefined)[];

/** Rows that runs recorded for the tables. Null: none did; undefined: production has no table. */
export const recordedRows = (client: Client, tables: readonly TableNames[]): Promise<RecordedRows> =>
  askTogether(client, () =>
    tables.map(async ({ schema, table }): Promise<Recorded | null | undefined> => {
      const [found] = (await runQuery(client, selectRecorded(schema, table))).rows;
      return found?.recorded;
    }),
  );

const measuredFrom = ({ table, strategy }: PublishPlan, before: number | null): Measured => ({
  before,
  after: strategy.rowsAtLeast(table, before),
  replaced: table.touched?.rows ?? before ?? 0,
});

/** Returns undefined if rows have to be counted. */
const knownFrom = (plan: PublishPlan, found: RecordedRows[number]): Measured | undefined => {
  if (found === undefined) return measuredFrom(plan, null);
  return found?.isWhole === true ? measuredFrom(plan, found.rows) : undefined;
};

/**
 * Uses the recorded rows if the table still has the same partitions. Counts rows before it refuses:
 * rows that people deleted are no loss of this run. Proved by
 * test/modes/dropped-partitions.test.ts.
 */
const measure = async (
  client: Client,
  guard: Guard,
  plan: PublishPlan,
  recorded: RecordedRows[number],
): Promise<Measured> => {
  const { table } = plan;
  const known = knownFrom(plan, recorded);
  if (known !== undefined && (recorded === undefined || isPassed(guard, known))) return known;
  const counted = await countProduction(client, table);
  const isOther = recorded?.isWhole === false && recorded.rows !== counted;
  return {
    ...measuredFrom(plan, counted),
    ...(isOther && { otherParts: otherPartsText(table, recorded, counted) }),
  };
};

const guardOf = ({ spec }: Work, { table }: PublishPlan): Guard =>
  spec.tables.find(({ name }) => name === table.table)!.guard;

/** True if no rows have to be counted, and no guard refuses them. */
export const passUncounted = (work: Work, plans: readonly PublishPlan[], recorded: RecordedRows): boolean =>
  plans.every((plan, place) => {
    const known = knownFrom(plan, recorded[place]);
    return known !== undefined && isPassed(guardOf(work, plan), known);
  });

const refusalText = (
  { rowsMin, shrinkMaxPercent }: Guard,
  { schema, table, touched }: BuiltTable,
  { before, after, replaced }: Measured,
): string => {
  const limit =
    after < rowsMin
      ? `at least ${formatCount(rowsMin)}`
      : touched === undefined
        ? `at most ${shrinkMaxPercent}% fewer than the ${formatCount(before!)} in production`
        : `that at most ${shrinkMaxPercent}% of the ${formatCount(replaced)} rows in ${firstOf(touched.names, namedMax).join(', ')} are lost, and ${formatCount(before! - after)} would be`;
  return `${schema}.${table}: ${formatCount(after)} rows, its guard requires ${limit}`;
};

export const rowsInProduction = async (
  client: Client,
  plans: readonly PublishPlan[],
): Promise<ReadonlyMap<string, number | null>> => {
  const rows = new Map<string, number | null>();
  const recorded = await recordedRows(
    client,
    plans.map(({ table }) => table),
  );
  for (const [place, plan] of plans.entries())
    rows.set(
      plan.table.table,
      (await measure(client, { rowsMin: 0, shrinkMaxPercent: 100 }, plan, recorded[place])).before,
    );
  return rows;
};

/**
 * Returns production's row count by table. Errors: ETL_GUARD with every table that its guard
 * refuses, except tables in `allowShrink`.
 */
export const checkGuards = async (
  context: RunContext,
  plans: readonly PublishPlan[],
  recorded: RecordedRows,
): Promise<ReadonlyMap<string, number | null>> => {
  const { client, allowShrink, report } = context;
  const rowsBefore = new Map<string, number | null>();
  const problems: { readonly table: string; readonly text: string }[] = [];
  for (const [place, plan] of plans.entries()) {
    const { table } = plan.table;
    const guard = guardOf(context, plan);
    const measured = await measure(client, guard, plan, recorded[place]);
    rowsBefore.set(table, measured.before);
    if (measured.otherParts !== undefined) report.emit({ type: 'notice', message: measured.otherParts });
    if (!isPassed(guard, measured)) problems.push({ table, text: refusalText(guard, plan.table, measured) });
  }
  const refused = problems.filter(({ table }) => !allowShrink.includes(table));
  if (refused.length > 0)
    throw new EtlError('ETL_GUARD', {
      tables: refused.map(({ table }) => table).join(','),
      problems: asList(refused.map(({ text }) => text)),
    });
  for (const { text } of problems)
    report.emit({
      type: 'notice',
      message: `${text.trim()}; published, because allowShrink names the table`,
    });
  return rowsBefore;
};
