// Checks how tables are distributed with Citus, against their keys and against each other.

import { z } from 'zod';
import type { ForeignKeySpec } from '../../core/constraint.ts';
import type { TableSpec } from '../../core/declaration.ts';
import type { DistributionSpec } from '../../core/shape.ts';
import { didYouMean } from '../../core/nearest.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { mustBe, strict, text, type Problems } from '../problems.ts';

const what = "'reference', or an object such as { by: 'customer_id', with: 'customer' }";

export const distributeSchema = z
  .union(
    [
      z.literal('reference'),
      strict({ by: text('a column name'), with: text("a table, or 'schema.table'").optional() }, what),
    ],
    mustBe(what),
  )
  .transform((written): DistributionSpec => {
    if (written === 'reference') return written;
    const { by, with: other } = written;
    return other === undefined ? { by } : { by, with: other };
  });

const distributionOf = ({ attributes }: TableSpec): DistributionSpec | undefined => attributes?.distribute;

const columnIn = (table: TableSpec, name: string) => {
  if (table.kind === 'source' && table.staging !== 'text')
    return publishedColumns(table).find((column) => column.name === name);
  return undefined;
};

const columnNames = (table: TableSpec): readonly string[] | undefined =>
  table.kind === 'source' && table.staging !== 'text'
    ? publishedColumns(table).map(({ name }) => name)
    : table.row?.map(({ name }) => name);

/** Problems of the table itself. A key is unique only within a shard. */
const checkTable = (table: TableSpec, distribution: DistributionSpec, problems: Problems): void => {
  const { attributes, partitionBy, primaryKey, indexes, constraints = [], publish } = table;
  if (partitionBy !== undefined && distribution === 'reference')
    problems.add('a reference table cannot have partitionBy; remove one of the two');
  else if (partitionBy?.by === 'hash')
    problems.add(
      'a distributed table is already divided by a hash; partition it by range or list, or remove partitionBy',
    );
  else if (partitionBy !== undefined && constraints.some(({ kind }) => kind === 'check'))
    problems.add(
      'Citus names a check differently in the shards of a table and of its partitions, and cannot attach these; remove checks or partitionBy',
    );
  for (const { name, kind } of attributes?.serverColumns ?? [])
    if (kind === 'identity')
      problems.add(
        `column ${name} is an identity column, which Citus does not number across nodes; remove one of the two`,
      );
  if (typeof publish === 'object' && 'by' in publish && publish.by === 'rebuild')
    problems.add("the rows of a distributed table are merged in place; remove by: 'rebuild'");
  if (attributes?.statistics !== undefined)
    problems.add('Citus does not pass on statistics targets; remove statistics');
  if (distribution === 'reference') return;
  const { by } = distribution;
  const known = columnNames(table);
  const made = attributes?.serverColumns?.find(({ name }) => name === by);
  if (made !== undefined)
    return problems.add(`column ${by} is generated, and Citus cannot distribute by it; name another`);
  if (known?.includes(by) === false)
    return problems.add(`\`${by}\` is not a column of the table${didYouMean(by, known)}`);
  if (columnIn(table, by)?.nullable === true)
    problems.add(
      `column ${by} cannot be nullable, because a row without it has no shard; remove .nullable()`,
    );
  const holds = (columns: readonly string[], part: string): void => {
    if (!columns.includes(by))
      problems.add(`${part} must contain ${by}: Citus keeps a row unique only within its shard; add '${by}'`);
  };
  if (primaryKey.length > 0) holds(primaryKey, 'primaryKey');
  for (const { unique, name, columns } of indexes) if (unique) holds(columns, `unique index ${name}`);
  for (const one of constraints) if (one.kind === 'unique') holds(one.columns, `unique ${one.name}`);
};

/** Citus places rows by a hash of the value, which differs between types. */
const checkWith = (
  table: TableSpec,
  { by, with: other }: Exclude<DistributionSpec, 'reference'>,
  tables: readonly TableSpec[],
  problems: Problems,
): void => {
  if (other === undefined || other.includes('.')) return;
  const known = tables.map(({ name }) => name).filter((name) => name !== table.name);
  const target = tables.find(({ name }) => name === other);
  if (target === undefined || target === table)
    return problems.add(
      `with names \`${other}\`, which is not another table of this pipeline, and one elsewhere is written 'schema.table'${didYouMean(other, known)}`,
    );
  const distribution = distributionOf(target);
  if (distribution === undefined || distribution === 'reference')
    return problems.add(
      `with names ${other}, which is not distributed by a column; declare distribute: { by: … } there`,
    );
  const [own, their] = [columnIn(table, by), columnIn(target, distribution.by)];
  if (own !== undefined && their !== undefined && own.type !== their.type)
    problems.add(
      `${by} is ${own.type}, and ${other} is distributed by ${distribution.by}, which is ${their.type}; give both the same type`,
    );
};

const isTogether = (table: TableSpec, target: TableSpec, { columns, to }: ForeignKeySpec): boolean => {
  const [own, their] = [distributionOf(table), distributionOf(target)];
  if (their === 'reference') return true;
  if (own === undefined || own === 'reference' || their === undefined) return own === their;
  const at = columns.indexOf(own.by);
  return at !== -1 && to[at] === their.by;
};

/** A node checks a foreign key only against its own rows. */
const checkForeignKeys = (table: TableSpec, tables: readonly TableSpec[], problems: Problems): void => {
  for (const key of table.constraints ?? []) {
    if (key.kind !== 'foreign key' || key.references.schema !== undefined) continue;
    const target = tables.find(({ name }) => name === key.references.table);
    if (target !== undefined && !isTogether(table, target, key))
      problems
        .at(`table ${table.name}, foreign key ${key.name}`)
        .add(
          `${table.name} and ${target.name} are distributed differently, and Citus cannot check the key; let it contain the columns of distribute of both tables, or declare ${target.name} distribute: 'reference'`,
        );
  }
};

export const checkDistribution = (tables: readonly TableSpec[], problems: Problems): void => {
  if (tables.every((table) => distributionOf(table) === undefined)) return;
  for (const table of tables) {
    const distribution = distributionOf(table);
    const here = problems.at(`table ${table.name}, distribute`);
    if (distribution !== undefined) checkTable(table, distribution, here);
    if (distribution !== undefined && distribution !== 'reference')
      checkWith(table, distribution, tables, here);
    checkForeignKeys(table, tables, problems);
  }
};
