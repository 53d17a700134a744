// Checks declared foreign keys against the tables that they reference.

import { z } from 'zod';
import { deleteActions, type ForeignKeySpec, type TableRef } from '../../core/constraint.ts';
import type { TableSpec } from '../../core/declaration.ts';
import { didYouMean } from '../../core/nearest.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { timeTypes } from './declared-values.ts';
import { defaultName } from '../names.ts';
import { choice, mustBe, oneOrMore, strict, text, type Problems } from '../problems.ts';

const keyText = "an object such as { columns: 'store_id', references: 'store.id' }";
const referencesMust = mustBe("a table and its column, such as 'store.id', or { table, columns }");
const name = text(keyText);
const names = oneOrMore(name, keyText);

/** An empty list of columns means the table's primaryKey. */
export interface Reference extends TableRef {
  readonly columns: readonly string[];
}

/** A name with a dot needs the object form. */
const written = /^(?:([^.]+)\.)??([^.]+)(?:\.([^.]+))?$/s;

const references = z.union(
  [
    z
      .string(referencesMust)
      .regex(written, referencesMust)
      .transform((reference): Reference => {
        const [, schema, table, column] = written.exec(reference)!;
        return { schema, table: table!, columns: column === undefined ? [] : [column] };
      }),
    strict({ schema: name.optional(), table: name, columns: names.optional() }).transform(
      ({ schema, table, columns = [] }): Reference => ({ schema, table, columns }),
    ),
  ],
  referencesMust,
);

const foreignKeySchema = strict(
  {
    columns: names,
    references,
    onDelete: choice(deleteActions).default('no action'),
    name: name.optional(),
  },
  keyText,
);

export const foreignKeysSchema = z.array(foreignKeySchema, mustBe('a list of foreign keys')).default([]);

export const foreignKeysOf = (
  table: string,
  keys: z.output<typeof foreignKeysSchema>,
): readonly ForeignKeySpec[] =>
  keys.map(({ columns, references: { columns: to, ...target }, onDelete, name: given }) => ({
    kind: 'foreign key',
    name: given ?? defaultName([table, ...columns], 'fkey'),
    columns,
    references: target,
    to,
    onDelete,
  }));

const keysIn = ({ constraints = [] }: TableSpec): readonly ForeignKeySpec[] =>
  constraints.flatMap((one) => (one.kind === 'foreign key' ? [one] : []));

const uniqueIn = ({ primaryKey, indexes, constraints = [] }: TableSpec): readonly (readonly string[])[] => [
  primaryKey,
  ...indexes.filter(({ unique, where }) => unique && where === undefined).map(({ columns }) => columns),
  ...constraints.flatMap((one) => (one.kind === 'unique' ? [one.columns] : [])),
];

const families: readonly (readonly string[])[] = [
  ['text', 'varchar'],
  ['smallint', 'integer', 'bigint'],
  ['numeric'],
  ['real', 'double'],
  timeTypes,
];

/**
 * The first type of each family of numbers, from narrow to wide. A column may reference a column of
 * a wider family, but not of a narrower one.
 */
const widening = ['smallint', 'numeric', 'real'];

const canRefer = (from: string, to: string): boolean => {
  if (from === to || from === 'of' || to === 'of') return true;
  const familyOf = (type: string) => families.find((family) => family.includes(type))?.[0] ?? type;
  const [one, other] = [familyOf(from), familyOf(to)];
  return one === other || (widening.includes(one) && widening.indexOf(one) < widening.indexOf(other));
};

const columnsOf = (table: TableSpec) =>
  table.kind === 'source' && table.staging !== 'text' ? publishedColumns(table) : undefined;

const leads = (from: string, to: string, tables: readonly TableSpec[], seen = new Set<string>()): boolean => {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  const table = tables.find((one) => one.name === from);
  return (
    table !== undefined &&
    keysIn(table).some(
      ({ references: target }) => target.schema === undefined && leads(target.table, to, tables, seen),
    )
  );
};

/** Checks that both sides have as many columns, compatible types, and nulls for 'set null'. */
const checkColumns = (
  table: TableSpec,
  { columns, to, onDelete }: ForeignKeySpec,
  target: TableSpec | undefined,
  problems: Problems,
): void => {
  const own = columnsOf(table);
  if (to.length !== columns.length)
    problems.add(`${columns.length} columns refer to ${to.length}; name as many of the other table`);
  for (const [index, column] of columns.entries()) {
    const from = own?.find((one) => one.name === column);
    const other = target && columnsOf(target)?.find((one) => one.name === to[index]);
    if (from !== undefined && other !== undefined && !canRefer(from.type, other.type))
      problems.add(
        `${column} is ${from.type}, and ${other.name} of table ${target!.name} is ${other.type}; give both the same type`,
      );
    if (onDelete === 'set null' && (from?.nullable === false || table.primaryKey.includes(column)))
      problems.add(`onDelete: 'set null' needs a column that allows nulls; ${column} does not`);
  }
};

const withTarget = (
  table: TableSpec,
  key: ForeignKeySpec,
  tables: readonly TableSpec[],
  problems: Problems,
): ForeignKeySpec => {
  const { references: target, onDelete } = key;
  if (target.schema !== undefined) {
    if (key.to.length === 0)
      problems.add(`needs the columns of ${target.schema}.${target.table} that it refers to`);
    else checkColumns(table, key, undefined, problems);
    return key;
  }
  const other = tables.find((one) => one.name === target.table);
  if (other === undefined) {
    const known = tables.map((one) => one.name);
    problems.add(
      `\`${target.table}\` is not a table of this pipeline, and another is written 'schema.table.column'${didYouMean(target.table, known)}`,
    );
    return key;
  }
  const complete = { ...key, to: key.to.length > 0 ? key.to : other.primaryKey };
  const { to } = complete;
  const known = (columnsOf(other) ?? other.row)?.map((column) => column.name);
  const unknown = to.find((column) => known?.includes(column) === false);
  const sorted = (list: readonly string[]): string => list.toSorted().join('\0');
  if (unknown !== undefined)
    problems.add(`\`${unknown}\` is not a column of table ${other.name}${didYouMean(unknown, known!)}`);
  else if (to.length === 0)
    problems.add(`table ${other.name} has no primaryKey; declare one, or name its columns`);
  else if (!uniqueIn(other).some((list) => sorted(list) === sorted(to)))
    problems.add(
      `(${to.join(', ')}) of table ${other.name} is neither its primaryKey nor unique; declare it in unique`,
    );
  else checkColumns(table, complete, other, problems);
  if (onDelete !== 'no action' && leads(other.name, table.name, tables))
    problems.add(
      `onDelete: '${onDelete}' needs an order of the tables, and they refer to each other in a circle; remove onDelete`,
    );
  return complete;
};

export const withTargets = (tables: readonly TableSpec[], problems: Problems): readonly TableSpec[] =>
  tables.map((table) => {
    if (keysIn(table).length === 0) return table;
    const constraints = table.constraints!.map((one) => {
      const here = problems.at(`table ${table.name}, foreign key ${one.name}`);
      return one.kind === 'foreign key' ? withTarget(table, one, tables, here) : one;
    });
    return { ...table, constraints };
  });
