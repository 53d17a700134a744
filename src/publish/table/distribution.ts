// Citus: tables whose rows are stored on other nodes. All that publishing knows of Citus is here.
//
// A new table is distributed in the build schema while it is empty. Then come rows, keys, indexes
// and the swap by rename, as for a local table: Citus passes these statements on to its nodes.
// Staging is local, because a crash of one node empties only its own unlogged shards, which the
// epoch would not notice. docs/operations/citus.md has what was tried.

import type { PipelineSpec } from '../../core/declaration.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import type { DistributionSpec } from '../../core/shape.ts';
import type { Client } from '../../db/client.ts';
import { hintOf, isRefusal } from '../../db/connect/server-error.ts';
import { namesOf } from '../../db/landing.ts';
import { builtName, productionName, type TableNames } from '../../db/names.ts';
import { quoteName, quoteText, type Query } from '../../db/sql.ts';
import type { Dependent } from './dependents.ts';
import type { Catalogues } from './extensions.ts';
import { createAs, createWith } from './storage.ts';

/** How Citus stores a production table. */
export interface FoundDistribution {
  /** `other`: not what a pipeline can declare, such as a table of a distributed schema. */
  readonly kind: 'distributed' | 'reference' | 'other';
  readonly by: string | null;
  /** Tables with the same number have the rows of a value on the same node. */
  readonly colocation: number;
}

/** SQL for the distribution; null: the table is local. */
export const distributionOf = (oid: string, { citusTables }: Pick<Catalogues, 'citusTables'>): string =>
  citusTables
    ? `(select json_build_object('colocation', d.colocationid, 'by', a.attname, 'kind',
          case when d.partmethod = 'h' then 'distributed' when d.partmethod = 'n' and d.repmodel = 't' then 'reference' else 'other' end)
        from pg_catalog.pg_dist_partition d left join pg_attribute a
          on a.attrelid = d.logicalrelid::oid and a.attnum = substring(d.partkey::text from ':varattno (\\d+)')::int
        where d.logicalrelid::oid = ${oid})`
    : 'null::json';

/** True for objects that Citus makes for each of its tables, and makes again for a new one. */
export const isMadeByCitus = ({ kind, name }: Dependent): boolean =>
  kind === 'Citus' ||
  (kind === 'extension' && name === 'citus') ||
  (kind === 'trigger' && /^truncate_trigger_\d+$/.test(name));

type Declared = Pick<TableNames, 'attributes'>;

export const isDistributed = ({ attributes }: Declared): boolean => attributes?.distribute !== undefined;

const declaredText = (declared: DistributionSpec): string =>
  declared === 'reference' ? `'reference'` : `{ by: '${declared.by}' }`;

const foundText = (found: FoundDistribution | null): string => {
  if (found === null) return 'a local table';
  if (found.kind === 'other') return 'stored by Citus in a way that sluice does not make';
  return found.kind === 'reference' ? 'a reference table' : `distributed by ${found.by}`;
};

const isSameAs = (declared: DistributionSpec, found: FoundDistribution | null): boolean =>
  declared === 'reference'
    ? found?.kind === 'reference'
    : found?.kind === 'distributed' && found.by === declared.by;

const findDistribution = async (client: Client, name: string): Promise<FoundDistribution | null> => {
  const oid = 'to_regclass($1)::oid';
  const { rows } = await client.query(`select ${distributionOf(oid, { citusTables: true })} as found`, [
    name,
  ]);
  return rows[0].found;
};

/** True if Citus stores the table (quoted name) in any way. */
export const isStoredByCitus = async (client: Client, name: string): Promise<boolean> =>
  client.hasCitus && (await findDistribution(client, name)) !== null;

/** Returns what a pipeline declares for a table (quoted name) that stays as it is. */
export const declarationFor = async (client: Client, name: string): Promise<DistributionSpec | undefined> => {
  const found = client.hasCitus ? await findDistribution(client, name) : null;
  if (found?.kind === 'reference') return 'reference';
  return found?.kind === 'distributed' ? { by: found.by! } : undefined;
};

/** True if the table (quoted name) is stored as declared, so that it can become production's. */
export const isStoredAs = async (
  client: Client,
  { attributes }: Declared,
  name: string,
): Promise<boolean> => {
  const declared = attributes?.distribute;
  return declared === undefined || isSameAs(declared, await findDistribution(client, name));
};

/** Refuses a table that is not distributed as declared. Errors: ETL_PUBLISH_SHAPE. */
export const refuseOtherDistribution = (
  { schema, table, attributes }: TableNames,
  { distribution: found }: { readonly distribution: FoundDistribution | null },
): void => {
  const declared = attributes?.distribute;
  if (declared === undefined || isSameAs(declared, found)) return;
  const name = quoteText(quoteName(schema, table));
  const make =
    declared === 'reference'
      ? `create_reference_table(${name})`
      : `create_distributed_table(${name}, ${quoteText(declared.by)})`;
  const change =
    found === null
      ? `\`select ${make}\``
      : `\`select undistribute_table(${name}, cascade_via_foreign_keys => true)\` and \`select ${make}\``;
  throw new EtlError('ETL_PUBLISH_SHAPE', {
    table,
    problem: `${schema}.${table} is ${foundText(found)}, and distribute is ${declaredText(declared)}`,
    hint: `Change distribute; or distribute the table yourself, while no run works: ${change}.`,
  });
};

/** SQL: the table whose shards the new one joins: production's, or that of `with`. */
const selectLike = `
  select coalesce((select n.name from pg_catalog.pg_dist_partition
    join unnest($1::text[]) with ordinality as n (name, place) on logicalrelid::oid = to_regclass(n.name)
    order by place limit 1), 'default') as like`;

/** Quoted name of the table of `with`, which may be in another schema. */
const withName = ({ schema }: TableNames, other: string): string => {
  const dot = other.indexOf('.');
  return dot === -1 ? quoteName(schema, other) : quoteName(other.slice(0, dot), other.slice(dot + 1));
};

/**
 * Distributes the new table as declared, while it is empty; does nothing if it is declared local.
 * `whole`: the partitioned table that it will be attached to. Errors: ETL_ATTRIBUTE_REFUSED.
 */
export const distribute = async (client: Client, names: TableNames, whole?: TableNames): Promise<void> => {
  const declared = names.attributes?.distribute;
  if (declared === undefined) return;
  const table = builtName(names);
  try {
    if (declared === 'reference') await client.query('select create_reference_table($1)', [table]);
    else {
      const likes = [
        whole === undefined ? productionName(names) : builtName(whole),
        ...(declared.with === undefined ? [] : [withName(names, declared.with)]),
      ];
      const { rows } = await client.query(selectLike, [likes]);
      await client.query('select create_distributed_table($1, $2, colocate_with => $3)', [
        table,
        declared.by,
        rows[0].like,
      ]);
    }
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    const details = {
      table: names.table,
      statement: `distribute: ${declaredText(declared)}`,
      problem: messageOf(cause),
      hint: hintOf(cause),
    };
    throw new EtlError('ETL_ATTRIBUTE_REFUSED', details, { cause });
  }
};

/**
 * Makes a local table with rows for `there` one from which Citus can write them: a reference table
 * is updated and deleted from only by others of its kind.
 */
export const makeReadable = async (
  client: Client,
  table: string,
  there: FoundDistribution | null,
): Promise<void> => {
  if (there?.kind === 'reference') await client.query('select create_reference_table($1)', [table]);
};

/**
 * For the transaction of a build, not for one that creates a schema: the node's own connection to
 * itself would not see it. Without it, Citus refuses to analyze a table that the transaction has
 * filled on this node.
 */
export const byConnections: Query = { text: 'set local citus.enable_local_execution = off' };

/**
 * Creates the new table with the rows of `select`, and sends `whenCreated`. `whole` as of
 * `distribute`. Returns the number of rows.
 */
export const createFilled = async (
  client: Client,
  names: TableNames,
  select: string,
  whenCreated: readonly Query[],
  whole?: TableNames,
): Promise<number> => {
  const create = `${createAs(names)} ${select}`;
  if (!isDistributed(names)) return createWith(client, { text: create }, whenCreated);
  await client.query(`${create} with no data`);
  await distribute(client, names, whole);
  return createWith(client, { text: `insert into ${builtName(names)} ${select}` }, whenCreated);
};

/**
 * Returns what prevents the declared distributions on this server. Each problem has its table's
 * name.
 */
export const distributionProblems = async (
  client: Client,
  spec: PipelineSpec,
): Promise<readonly { readonly table: string; readonly problem: string }[]> => {
  const declared = spec.tables.filter(isDistributed);
  if (declared.length === 0) return [];
  if (!client.hasCitus)
    return declared.map(({ name: table }) => ({
      table,
      problem:
        'this database has no Citus; remove distribute, or create the extension (`create extension citus`)',
    }));
  const wanted = declared.flatMap((table) => {
    const { distribute: one } = table.attributes!;
    const other = one === 'reference' ? undefined : one!.with;
    return other === undefined ? [] : [{ names: namesOf(spec, table), other }];
  });
  const { rows } = await client.query<{ place: number; isMissing: boolean; isApart: boolean }>(
    `select place::int, w.other is null as "isMissing", coalesce(o.colocationid <> d.colocationid, false) as "isApart"
      from unnest($1::text[], $2::text[]) with ordinality as n (own, with_table, place)
        cross join lateral (select to_regclass(own)::oid as own, to_regclass(with_table)::oid as other) w
        left join pg_catalog.pg_dist_partition d on d.logicalrelid::oid = w.own
        left join pg_catalog.pg_dist_partition o on o.logicalrelid::oid = w.other order by place`,
    [
      wanted.map(({ names }) => productionName(names)),
      wanted.map(({ names, other }) => withName(names, other)),
    ],
  );
  return rows.flatMap(({ place, isMissing, isApart }) => {
    const { names, other } = wanted[place - 1]!;
    const { table } = names;
    if (isMissing && other.includes('.'))
      return [
        { table, problem: `with names ${other}, which does not exist; create and distribute it first` },
      ];
    return isApart
      ? [
          {
            table,
            problem: `the rows of ${names.schema}.${table} are not on the nodes of those of ${other}; remove with, or change it yourself, while no run works: \`select alter_distributed_table(${quoteText(productionName(names))}, colocate_with => ${quoteText(withName(names, other))})\``,
          },
        ]
      : [];
  });
};
