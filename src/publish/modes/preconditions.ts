// Checks before anything is loaded that index names are free and privileges are granted.

import type { Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { refuseMissing, type Access } from '../../db/session/access.ts';
import type { PublishPlan } from './contract.ts';
import { productionName } from '../../db/names.ts';
import { adviceTaken } from '../refusals.ts';

/**
 * Refuses index names that are taken: publishing would fail with 42P07. Errors:
 * ETL_PUBLISH_REFUSED. Proved by test/modes/publish-protects.test.ts, "one that was only renamed".
 */
export const refuseTakenNames = async (client: Client, plans: readonly PublishPlan[]): Promise<void> => {
  const wanted = plans.flatMap(({ table: { schema, table }, builtAs, strategy }) =>
    strategy.writes ? [] : builtAs.indexes.map(({ name }) => ({ schema, table, name })),
  );
  // Index names of the run's own tables will be free.
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

/**
 * Refuses missing privileges. Owners have all, unless somebody revoked them. Errors:
 * ETL_PERMISSION.
 */
export const refuseLacking = async (client: Client, plans: readonly PublishPlan[]): Promise<void> => {
  const needed = plans
    .filter(({ production }) => production !== undefined)
    .flatMap((plan) =>
      (plan.strategy.needs?.(plan) ?? []).map((privilege) => [productionName(plan.table), privilege]),
    );
  if (needed.length === 0) return;
  // A privilege on some columns may be enough, except for `delete`.
  const { rows } = await client.query<Pick<Access, 'user' | 'missing' | 'cures'>>(
    `select current_user as "user",
        coalesce(array_agg(privilege || ' rows of table ' || name::regclass), '{}') as missing,
        coalesce(array_agg(format('grant %s on %s to %I', privilege, name, current_user)), '{}') as cures
      from unnest($1::text[], $2::text[]) as n (name, privilege)
      where not case privilege when 'delete' then has_table_privilege(name, privilege)
        else has_any_column_privilege(name, privilege) end`,
    [needed.map(([name]) => name), needed.map(([, privilege]) => privilege)],
  );
  refuseMissing(rows[0]!);
};
