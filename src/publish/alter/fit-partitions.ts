// Prepares built partitions to be attached: checks their names, takes them out of the build, copies the table's constraints.

import { askTogether } from '../../db/ask-together.ts';
import type { Client } from '../../db/client.ts';
import type { BuiltOver } from '../table/built-over.ts';
import { builtName, type TableNames } from '../../db/names.ts';
import type { ProductionPartition } from '../table/production.ts';
import { quoteName } from '../../db/sql.ts';
import { refuseShape } from '../table/shape.ts';

interface Fitting {
  readonly plan: BuiltOver;
  readonly added: readonly { readonly table: TableNames }[];
  readonly removed: readonly ProductionPartition[];
}

/** Refuses names of new partitions that other objects have. Errors: ETL_PUBLISH_SHAPE. */
export const refuseTaken = async (client: Client, all: readonly Fitting[]): Promise<void> => {
  const wanted = all.flatMap(({ plan, added, removed }) => {
    const free = new Set(removed.map(({ name }) => name));
    return added.flatMap(({ table }) =>
      free.has(table.table) ? [] : [{ owner: plan.table.table, ...table }],
    );
  });
  const { rows } = await client.query(
    `select w.owner, n.nspname || '.' || c.relname as name
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality as w (owner, schema, name, place)
        join pg_namespace n on n.nspname = w.schema join pg_class c on c.relnamespace = n.oid and c.relname = w.name
      order by w.place limit 1`,
    [wanted.map(({ owner }) => owner), wanted.map(({ schema }) => schema), wanted.map(({ table }) => table)],
  );
  if (rows.length > 0)
    refuseShape(
      rows[0].owner,
      `its partition ${rows[0].name} cannot be created, because another object has that name`,
      'Drop that object, or move it to another schema. Renaming is not enough: its indexes would keep their names.',
    );
};

const selectConstraints = `select t.place::int, k.conname as name, pg_get_constraintdef(k.oid) as definition, k.contype as kind
    from unnest($1::oid[]) with ordinality as t (oid, place) join pg_constraint k on k.conrelid = t.oid
    where k.contype in ('c', 'f', 'u') and k.conparentid = 0
    order by t.place, k.conname`;

/**
 * Takes partitions out of the table in which they were built, and gives them constraints and not null
 * of the one in production: the server then attaches them without reading rows. Leaves out declared
 * constraints, which exist already, and those of earlier runs, which will be dropped.
 *
 * Taken out first: before PostgreSQL 15, a foreign key to a table with partitions would leave keys to
 * each of these behind (test/modes/partition-constraints.test.ts).
 */
export const takeOutAndConstrain = async (client: Client, all: readonly Fitting[]): Promise<void> => {
  const tables = all.filter(({ added }) => added.length > 0);
  if (tables.length === 0) return;
  const takenOut = tables.flatMap(({ plan, added }) =>
    added.map(({ table }) => `alter table ${builtName(plan.table)} detach partition ${builtName(table)};`),
  );
  const [{ rows }] = await askTogether(client, () => [
    client.query(selectConstraints, [tables.map(({ plan }) => plan.production!.oid)]),
    client.query(takenOut.join('\n')),
  ]);
  const statements = tables.flatMap(({ plan: { table: whole, production, builtAs }, added }, index) => {
    const declared = new Set([
      ...whole.constraints.map(({ name }) => name),
      ...(production!.published?.constraints ?? []),
    ]);
    const required = new Set(builtAs.columns.filter(({ notNull }) => notNull).map(({ name }) => name));
    const known = production!.published?.notNull ?? [];
    const parts = [
      ...rows
        .filter(({ place, name, kind }) => place === index + 1 && (kind === 'f' || !declared.has(name)))
        // The server names the index of a unique constraint after its table.
        .map(({ name, kind, definition }) =>
          kind === 'u' ? `add ${definition}` : `add constraint ${quoteName(name)} ${definition}`,
        ),
      ...production!.columns
        .filter(({ name, notNull }) => notNull && !required.has(name) && !known.includes(name))
        .map(({ name }) => `alter column ${quoteName(name)} set not null`),
    ];
    return parts.length === 0
      ? []
      : added.map(({ table }) => `alter table ${builtName(table)} ${parts.join(', ')};`);
  });
  if (statements.length > 0) await client.query(statements.join('\n'));
};
