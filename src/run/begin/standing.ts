// Checks if the last published run is still current.

import type { PipelineSpec } from '../../core/declaration/declaration.ts';
import { runQuery, type Client } from '../../db/client.ts';
import { mayHaveRows } from '../../db/rows.ts';
import { quoteName, type Query } from '../../db/sql.ts';
import { plural } from '../../core/wording.ts';
import type { OutsetContext } from '../context.ts';
import type { PlannedTable } from '../files/planned-table.ts';

/**
 * Selects the newest published run, if it has this definition and production still has the tables
 * that it published, by their oids.
 */
const selectStandingRun = (spec: PipelineSpec, definitionHash: string): Query => ({
  text: `select u.id::float8 as id from (
      select * from etl.run where pipeline = $1 and state = 'published' order by id desc limit 1
    ) u
    where u.definition_hash = $2 and not exists (
      select from unnest($3::text[]) as wanted (name)
      left join etl.published_table p on p.run_id = u.id and p.table_name = wanted.name
      left join pg_class c on c.oid = p.table_oid and c.relname = wanted.name
      left join pg_namespace n on n.oid = c.relnamespace and n.nspname = $4
      where n.oid is null)`,
  values: [spec.name, definitionHash, spec.tables.map(({ name }) => name), spec.schema],
});

/** A table that a run published with rows, and that is empty now. */
interface EmptiedTable {
  readonly schema: string;
  readonly table: string;
  readonly rows: number;
}

const emptiedTable = async (client: Client, runId: number): Promise<EmptiedTable | undefined> => {
  const { rows: tables }: { rows: EmptiedTable[] } = await client.query(
    `select schema_name as schema, table_name as "table", rows::float8 from etl.published_table
      where run_id = $1 and rows > 0 order by table_name`,
    [runId],
  );
  for (const one of tables) if (!(await mayHaveRows(client, quoteName(one.schema, one.table)))) return one;
  return undefined;
};

/**
 * Returns the published run with exactly these files and this definition; undefined if there is
 * work to do. Emits a notice if the only reason is an emptied table. Proved by
 * test/modes/publish-protects.test.ts, "is loaded again".
 */
export const standingRun = async (
  { client, spec, hashes, report }: OutsetContext,
  planned: readonly PlannedTable[],
): Promise<number | undefined> => {
  const { rows } = await runQuery(client, selectStandingRun(spec, hashes.definition));
  const runId: number | undefined = rows[0]?.id;
  if (runId === undefined) return undefined;
  if (planned.some(({ intake }) => intake.hasWork)) return undefined;
  const emptied = await emptiedTable(client, runId);
  if (emptied === undefined) return runId;
  const { schema, table, rows: had } = emptied;
  const message = `${schema}.${table} is empty, though run ${runId} published ${plural(had, 'row')}; it is loaded again`;
  report.emit({ type: 'notice', message });
  return undefined;
};
