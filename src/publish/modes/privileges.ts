// Checks privileges on existing tables. An owner has all privileges unless somebody revoked them.

import type { Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { PublishPlan } from './contract.ts';
import { productionName } from '../../db/names.ts';

/** Refuses tables for which publishing as planned lacks privileges. Errors: ETL_PERMISSION. */
export const refuseLacking = async (client: Client, plans: readonly PublishPlan[]): Promise<void> => {
  const needed = plans
    .filter(({ production }) => production !== undefined)
    .flatMap((plan) =>
      (plan.strategy.needs?.(plan) ?? []).map((privilege) => [productionName(plan.table), privilege]),
    );
  if (needed.length === 0) return;
  // A privilege on columns may be enough.
  const { rows } = await client.query<{ user: string; action: string | null }>(
    `select current_user as "user", string_agg(privilege || ' rows of table ' || name::regclass, '; ') as action
      from unnest($1::text[], $2::text[]) as n (name, privilege)
      where not case privilege when 'delete' then has_table_privilege(name, privilege)
        else has_any_column_privilege(name, privilege) end`,
    [needed.map(([name]) => name), needed.map(([, privilege]) => privilege)],
  );
  const { user, action } = rows[0]!;
  if (action !== null)
    throw new EtlError('ETL_PERMISSION', { user, action, problem: 'the privilege is missing' });
};
