// Runs the data tests of tables in any schema, and judges the results.

import { fileNames } from '../ledger/run/data-tests.ts';
import { row, type Relation, type Tested } from '../publish/data-tests/contract.ts';
import {
  measureTests,
  prepareTests,
  testedColumns,
  TestRefused,
  type Measured,
} from '../publish/data-tests/measure.ts';
import { testKinds } from '../publish/data-tests/registry.ts';
import type { DataTestResult, FailingRow, TestSpec } from '../core/data-test.ts';
import type { PipelineSpec, TableSpec } from '../core/declaration.ts';
import type { Client } from '../db/client.ts';
import { hintOf, isRefusal } from '../db/connect/server-error.ts';
import { quoteName } from '../db/sql.ts';
import { EtlError, codeOf, isSqlState, messageOf } from '../core/errors/errors.ts';
import { fileColumn } from '../db/names.ts';
import { isOverLimit } from '../ledger/rejects/store.ts';
import { placeInSql, type SqlText } from '../db/sql-file.ts';
import { formatCount, onOneLine, plural, asList } from '../core/wording.ts';
import { meaningOf } from '../publish/modes/meanings.ts';
import { rounded } from '../core/amounts.ts';

export interface TestSite {
  readonly spec: PipelineSpec;
  readonly testTexts: ReadonlyMap<TestSpec, SqlText>;
  readonly nameOf: (table: string) => string;
  readonly path: readonly string[];
}

export interface TableToTest {
  readonly table: TableSpec;
  /** Subquery with the rows that a run adds; missing: all rows, or there is no run. */
  readonly brought?: string;
  readonly keys: readonly (readonly string[])[];
  readonly before: number | null;
}

const refusalOf = ({ testTexts }: TestSite, table: string, thrown: unknown): unknown => {
  if (!(thrown instanceof TestRefused)) return thrown;
  const { spec, prefixLength, cause } = thrown;
  const sql = testTexts.get(spec);
  const offset = Number((cause as { position?: string }).position ?? 0) - 1 - prefixLength;
  const place = sql !== undefined && offset >= 0 ? placeInSql(sql.text, offset) : '';
  const state = isSqlState(codeOf(cause)) ? `${codeOf(cause)} ` : '';
  const details = {
    table,
    test: onOneLine(spec.name),
    where: sql === undefined ? '' : `${sql.file}${place}: `,
    problem: state + messageOf(cause),
    hint: hintOf(cause),
  };
  return new EtlError('ETL_TEST_REFUSED', details, { cause });
};

const othersOf = async (
  client: Client,
  { spec: { tables }, nameOf }: TestSite,
  tests: readonly TestSpec[],
): Promise<ReadonlyMap<string, Relation>> => {
  const others = new Map<string, Relation>();
  for (const test of tests) {
    const kind = testKinds[test.kind]!;
    for (const other of (kind.per === 'set' ? kind.other?.(test) : undefined) ?? []) {
      const isOurs = tables.some(({ name }) => name === other);
      const rows = isOurs ? nameOf(other) : other;
      const [columns] = await testedColumns(client, [rows]).catch((cause: unknown) => {
        throw isRefusal(cause) ? new TestRefused(test, 0, { cause }) : cause;
      });
      others.set(other, { rows, columns: columns ?? [] });
    }
  }
  return others;
};

const judge = (table: string, { spec, failures, tested, problem, seconds }: Measured): DataTestResult => {
  const { name, kind, severity, max } = spec;
  const isOver = isOverLimit(max, failures, tested ?? 0);
  const outcome = severity === 'warn' ? 'warned' : 'failed';
  const count = `${plural(failures, 'row')}${tested === null ? '' : ` of ${formatCount(tested)}`}`;
  const isWhole = testKinds[kind]!.per === 'table';
  return {
    table,
    test: name,
    kind,
    severity,
    outcome: isOver ? outcome : 'passed',
    failures,
    problem: problem === null || isWhole ? problem : `${count}: ${problem}`,
    rows: [],
    seconds: rounded(seconds),
  };
};

const fileOf = (values: FailingRow['values']): string | undefined => {
  const id = values[fileColumn] ?? '';
  return /^\d{1,18}$/.test(id) ? id : undefined;
};

const withPlaces = async (
  client: Client,
  found: readonly Measured[],
): Promise<readonly (readonly FailingRow[])[]> => {
  const ids = found.flatMap(({ rows }) => rows.flatMap((values) => fileOf(values) ?? []));
  const names = await fileNames(client, [...new Set(ids)]);
  return found.map(({ rows }) =>
    rows.map((values) => {
      const file = names.get(fileOf(values) ?? '') ?? null;
      const line = file === null ? Number.NaN : Number(values['_line'] ?? Number.NaN);
      return { file, line: Number.isSafeInteger(line) ? line : null, values };
    }),
  );
};

const testedOf = async (
  client: Client,
  site: TestSite,
  { table: { name, tests = [], publish }, brought, keys, before }: TableToTest,
): Promise<Tested> => {
  const rows = site.nameOf(name);
  const { versions } = meaningOf(publish);
  const texts = tests.flatMap((test) => {
    const sql = site.testTexts.get(test);
    return sql === undefined ? [] : [[test.name, sql.text] as const];
  });
  const [columns] = await testedColumns(client, [rows]);
  return {
    rows,
    brought: brought ?? rows,
    columns: columns!,
    current: versions === undefined ? 'true' : `${row}.${quoteName(versions.to)} is null`,
    keys,
    before,
    others: await othersOf(client, site, tests),
    sql: new Map(texts),
    path: site.path,
  };
};

/** Lets the server parse the tests without reading a row. Errors: ETL_TEST_REFUSED. */
export const prepareTables = async (
  client: Client,
  site: TestSite,
  tables: readonly TableToTest[],
): Promise<void> => {
  for (const one of tables)
    try {
      await prepareTests(client, one.table.tests ?? [], await testedOf(client, site, one));
    } catch (thrown) {
      throw refusalOf(site, one.table.name, thrown);
    }
};

/** Runs the tests. Errors: ETL_TEST_REFUSED for the first test that the server refuses. */
export const testTables = async (
  client: Client,
  site: TestSite,
  tables: readonly TableToTest[],
): Promise<readonly DataTestResult[]> => {
  const results: DataTestResult[] = [];
  for (const one of tables) {
    const { name, tests = [] } = one.table;
    try {
      const found = await measureTests(client, tests, await testedOf(client, site, one));
      const places = await withPlaces(client, found);
      results.push(...found.map((each, at) => ({ ...judge(name, each), rows: places[at]! })));
    } catch (thrown) {
      throw refusalOf(site, name, thrown);
    }
  }
  return results;
};

export const testText = ({ table, test, problem }: DataTestResult): string =>
  onOneLine(`${table}, ${test}: ${problem}`);

export const problemsOf = (failed: readonly DataTestResult[]): string => asList(failed.map(testText));
