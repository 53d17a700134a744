// Checks referenced tables outside the run, before anything is loaded.

import { withPath, withTransaction, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { EtlError, codeOf } from '../../core/errors/errors.ts';
import type { DeclaredTable } from './tables.ts';
import { constraintText, refusedByServer } from './constraints.ts';
import { foreignKeysOf, targetAt, targetName } from './foreign-keys.ts';

const selectKeys = `select exists (select from pg_index i
    where i.indrelid = to_regclass($1) and i.indisunique and i.indimmediate and i.indisvalid and i.indpred is null
      and array(select a.attname::text from unnest(i.indkey) with ordinality as u (attnum, place)
          left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.attnum and u.attnum > 0
          where u.place <= i.indnkeyatts order by 1)
        = array(select unnest($2::text[]) order by 1)) as "hasKey",
  has_table_privilege(to_regclass($1), 'references') as "mayRefer", quote_ident(current_user) as role`;

/**
 * Checks foreign keys to tables outside the run. `like`: an existing table with the columns of
 * `table`, if any. Errors: ETL_CONSTRAINT_REFUSED.
 */
export const checkTargetsOutside = async (
  client: Client,
  table: DeclaredTable,
  tables: readonly DeclaredTable[],
  like: string | undefined,
): Promise<void> => {
  for (const key of foreignKeysOf(table)) {
    if (targetAt(table, key, tables) !== -1) continue;
    const target = targetName(table, key);
    const same = key.to.map((name, at) => {
      const own = like === undefined ? `k.${quoteName(name)}` : `n.${quoteName(key.columns[at]!)}`;
      return `k.${quoteName(name)} = ${own}`;
    });
    // The server finds missing columns and types that cannot be compared.
    const from = `${target} k${like === undefined ? '' : `, ${like} n`}`;
    const refuse = (problem: string, hint: string): never => {
      throw new EtlError('ETL_CONSTRAINT_REFUSED', {
        table: table.table,
        constraint: constraintText(key),
        problem,
        hint,
      });
    };
    await withTransaction(client, () =>
      withPath(client, table.path, () =>
        client.query(`select from ${from} where ${same.join(' and ')} limit 0`),
      ),
    ).catch((cause: unknown) => {
      // 42501: we may not read the table, but a foreign key does not need that.
      if (codeOf(cause) !== '42501') throw refusedByServer(table, [key], cause);
    });
    const { hasKey, mayRefer, role } = (await client.query(selectKeys, [target, key.to])).rows[0];
    const to = `${target.replaceAll('"', '')} (${key.to.join(', ')})`;
    if (!hasKey)
      refuse(`${to} is neither the primary key nor unique`, 'Make it unique there, or reference a key.');
    if (!mayRefer)
      refuse(
        'the privilege REFERENCES is missing',
        `Its owner can grant it: grant references on ${target} to ${role};`,
      );
  }
};
