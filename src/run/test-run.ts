// Tests what a run has built, before anything in production changes. A separate read-only session
// reads production as it will be: built tables, and views for tables that are kept.

import { recordTests } from '../ledger/run/data-tests.ts';
import type { DataTestResult } from '../core/data-test.ts';
import type { TableSpec } from '../core/declaration.ts';
import { withClient, withRollback, type Client } from '../db/client.ts';
import { quoteName } from '../db/sql.ts';
import { EtlError } from '../core/errors/errors.ts';
import { mentions } from '../publish/table/table-order.ts';
import { authorsPath, buildSchema } from '../db/names.ts';
import { meaningOf } from '../publish/modes/meanings.ts';
import type { BuiltTable } from '../publish/table/tables.ts';
import { partRows, showRows } from '../publish/modes/views.ts';
import { planPublish } from '../publish/plan.ts';
import { step, type BuildContext, type RunContext, type Work } from './context.ts';
import { stopSignal } from '../core/stop.ts';
import { rowsInProduction } from './publish/guard.ts';
import {
  problemsOf,
  prepareTables,
  testTables,
  testText,
  type TableToTest,
  type TestSite,
} from './test-tables.ts';

/** Column lists that are unique. In mode history, the version's start is left out. */
const keysOf = ({ primaryKey, constraints = [], indexes, publish }: TableSpec): TableToTest['keys'] => {
  const { versions } = meaningOf(publish);
  return [
    primaryKey.filter((name) => name !== versions?.from),
    ...constraints.flatMap((one) => (one.kind === 'unique' ? [one.columns] : [])),
    ...indexes.flatMap(({ unique, where, columns }) => (unique && where === undefined ? [columns] : [])),
  ].filter((columns) => columns.length > 0);
};

/** Counts production's rows. Returns an empty map if no test compares with them. */
const rowsBefore = async (
  { client }: Work,
  tables: readonly TableSpec[],
  built: readonly BuiltTable[],
): Promise<ReadonlyMap<string, number | null>> => {
  const isAsked = tables.some(({ tests = [] }) => tests.some(({ of }) => typeof of['percent'] === 'number'));
  return isAsked ? rowsInProduction(client, await planPublish(client, built)) : new Map();
};

type Tests = Pick<BuildContext, 'spec' | 'testTexts'>;

/** Creates views named like the tables that are kept in place, for the SQL of tests. */
const showParts = async (
  client: Client,
  { spec, testTexts }: Tests,
  built: readonly BuiltTable[],
  isRehearsal: boolean,
): Promise<void> => {
  const taken = new Set(spec.tables.map(({ name }) => name));
  const texts = [...testTexts.values()].map(({ text }) => text);
  const isAsked = (name: string): boolean => !taken.has(name) && texts.some((text) => mentions(text, name));
  for (const table of built)
    await showRows(client, table, false, (name) => name === table.table || isAsked(name), isRehearsal);
};

/** `before`: rows in production; undefined in a rehearsal. */
const siteOf = async (
  client: Client,
  context: Tests,
  built: readonly BuiltTable[],
  before: ReadonlyMap<string, number | null> | undefined,
): Promise<readonly [TestSite, readonly TableToTest[]]> => {
  const { spec, testTexts } = context;
  const schema = buildSchema(spec.name);
  const nameOf = (table: string) => quoteName(schema, table);
  await showParts(client, context, built, before === undefined);
  const toTest: TableToTest[] = [];
  for (const table of spec.tables) {
    if (table.tests === undefined) continue;
    const own = built.find((one) => one.table === table.name)!;
    const brought = own.extent === 'part' ? { brought: `(${(await partRows(client, own)).new})` } : {};
    toTest.push({ table, ...brought, keys: keysOf(table), before: before?.get(table.name) ?? null });
  }
  return [{ spec, testTexts, nameOf, path: [schema, ...authorsPath(spec)] }, toTest];
};

/** Lets the server parse the tests, over tables without rows. Errors: ETL_TEST_REFUSED. */
export const rehearseTests = async (context: BuildContext, built: readonly BuiltTable[]): Promise<void> => {
  const { client, spec } = context;
  if (spec.tables.some(({ tests }) => tests !== undefined))
    await prepareTables(client, ...(await siteOf(client, context, built, undefined)));
};

const testBuilt = async (
  context: RunContext,
  tables: readonly TableSpec[],
  built: readonly BuiltTable[],
): Promise<readonly DataTestResult[]> => {
  const { address } = context;
  const before = await rowsBefore(context, tables, built);
  const test = async (client: Client): Promise<readonly DataTestResult[]> => {
    const site = await siteOf(client, context, built, before);
    // Row security could hide rows from the tests. With `off`, this is an error.
    await client.query('set local row_security = off; set transaction read only');
    return testTables(client, ...site);
  };
  return withClient(address, (client) => withRollback(client, () => test(client)), stopSignal(context));
};

/** Tests the built tables. Errors: ETL_TEST_FAILED, ETL_TEST_REFUSED. */
export const testRun = async (
  context: RunContext,
  runId: number,
  built: readonly BuiltTable[],
): Promise<void> => {
  const { client, spec, report } = context;
  const tables = spec.tables.filter(({ tests }) => tests !== undefined);
  if (tables.length === 0) return;
  const results = await step(context, 'test', () => testBuilt(context, tables, built));
  await recordTests(client, runId, results);
  for (const one of results)
    if (one.outcome === 'warned') report.emit({ type: 'notice', message: `data test ${testText(one)}` });
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return;
  const hint = `\`etl status ${runId}\` shows the failing rows.`;
  throw new EtlError('ETL_TEST_FAILED', {
    state: ', and nothing was published',
    problems: problemsOf(failed),
    hint,
  });
};
