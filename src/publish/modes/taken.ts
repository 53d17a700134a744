// Refuses new tables whose index names are taken by other objects in the production schema. Proved
// by test/modes/publish-protects.test.ts, "one that was only renamed".

import type { Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { PublishPlan } from './contract.ts';
import { adviceTaken } from '../refusals.ts';

/** Call before loading: publishing would fail with 42P07. Errors: ETL_PUBLISH_REFUSED. */
export const refuseTakenNames = async (client: Client, plans: readonly PublishPlan[]): Promise<void> => {
  const wanted = plans.flatMap(({ table: { schema, table }, builtAs, strategy }) =>
    strategy.writes ? [] : builtAs.indexes.map(({ name }) => ({ schema, table, name })),
  );
  // Names of indexes on the run's own tables will be free.
  const { rows } = await client.query(
    `select w.table, string_agg(concat(case when i.indrelid is null then 'relation ' else 'index ' end, c.relname,
          ' of ' || i.indrelid::regclass), ', ' order by w.place) as taken
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality as w (schema, "table", name, place)
        join pg_namespace n on n.nspname = w.schema join pg_class c on c.relnamespace = n.oid and c.relname = w.name
        left join pg_index i on i.indexrelid = c.oid
      where i.indrelid is null or i.indrelid <> all ($4::oid[]) group by w.table order by min(w.place) limit 1`,
    [
      wanted.map(({ schema }) => schema),
      wanted.map(({ table }) => table),
      wanted.map(({ name }) => name),
      plans.flatMap(({ production }) => production?.oid ?? []),
    ],
  );
  for (const { table, taken } of rows)
    throw new EtlError('ETL_PUBLISH_REFUSED', {
      table,
      sqlstate: '42P07',
      problem: `indexes of the new table need names that are taken: ${taken}`,
      hint: adviceTaken,
    });
};
