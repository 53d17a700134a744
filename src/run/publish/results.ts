// Reads the results of a run from the ledger.

import { fileTotals } from '../../ledger/run/ledger.ts';
import { publishedTables } from '../../ledger/production/published-tables.ts';
import type { PipelineSpec } from '../../core/declaration/declaration.ts';
import type { Client } from '../../db/client.ts';
import type { TableResult } from '../../core/model.ts';
import { countsOfTable } from '../../core/counts.ts';

/** Returns when a run was published, and the results of its tables in declared order. */
export const tableResults = async (
  client: Client,
  spec: PipelineSpec,
  runId: number,
): Promise<{ readonly publishedAt: Date; readonly tables: readonly TableResult[] }> => {
  const totals = await fileTotals(client, runId);
  const published = await publishedTables(client, runId);
  const tables = spec.tables.map(({ name, kind }): TableResult => {
    const files = totals.filter(({ table }) => table === name);
    const own = published.find(({ table }) => table === name)!;
    const { rowsBefore, rows, seconds, strategy, changes, partitions } = own;
    return {
      table: name,
      schema: spec.schema,
      kind,
      files: files.length,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      ...countsOfTable(files, name),
      rowsBefore,
      rows,
      seconds,
      strategy,
      ...(changes && { changes }),
      ...(partitions && { partitions }),
    };
  });
  return { publishedAt: published[0]!.publishedAt, tables };
};
