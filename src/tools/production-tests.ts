// Runs the data tests of a pipeline on production. It only reads, with the locks of any reader.

import { rowsBeforeNewest } from '../ledger/run/data-tests.ts';
import { keysOf } from '../publish/data-tests/measure.ts';
import { isThere, withTransaction, type Client } from '../db/client.ts';
import { quoteName } from '../db/sql.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { authorsPath } from '../db/names.ts';
import { readDefinition } from '../pipeline/definition.ts';
import { refuseUnknownTables, resolveOptions } from '../run/options.ts';
import type { TestPipelineOptions, TestReport } from './test-report.ts';
import { testTables, type TableToTest } from '../run/test-tables.ts';

/**
 * Tests production. Without a client, there is no server and no table. Errors: ETL_TEST_NO_TABLE,
 * ETL_TEST_REFUSED.
 */
export const testsOf = async (
  pipeline: Pipeline,
  { tables: asked, ...options }: TestPipelineOptions,
  client: Client | undefined,
): Promise<TestReport> => {
  const { spec, testTexts } = await readDefinition(pipeline, resolveOptions(options));
  const names = spec.tables.map(({ name }) => name);
  refuseUnknownTables(names, asked, 'tables');
  const nameOf = (table: string): string => quoteName(spec.schema, table);
  const tables = spec.tables.filter(
    ({ name, tests }) => tests !== undefined && (asked ?? names).includes(name),
  );
  const missing = (table: string): EtlError =>
    new EtlError('ETL_TEST_NO_TABLE', { table, name: `${spec.schema}.${table}` });
  if (client === undefined) throw missing(names[0]!);
  // Read committed: each statement has a new snapshot. An old snapshot sees a swapped table empty.
  const tests = await withTransaction(client, async () => {
    await client.query(
      'set transaction read only; set local row_security = off; set local statement_timeout to default',
    );
    const toTest: TableToTest[] = [];
    for (const table of tables) {
      const { name } = table;
      if (!(await isThere(client, nameOf(name)))) throw missing(name);
      const before = await rowsBeforeNewest(client, spec.schema, name);
      toTest.push({ table, keys: await keysOf(client, nameOf(name)), before });
    }
    return testTables(client, { spec, testTexts, nameOf, path: authorsPath(spec) }, toTest);
  });
  const outcome = (['failed', 'warned'] as const).find((one) => tests.some((test) => test.outcome === one));
  return { pipeline: spec.name, outcome: outcome ?? 'passed', tests };
};
