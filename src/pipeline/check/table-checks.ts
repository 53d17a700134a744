// Checks the parts of a table against each other.

import type {
  ColumnSpec,
  Dialect,
  FieldRef,
  FilterSpec,
  IndexSpec,
  PartitionSpec,
  PublishSpec,
  Reading,
  SourceTableSpec,
  TableSpec,
} from '../../core/declaration.ts';
import { fieldsOf, mainName } from '../../format/records/file-fields.ts';
import { neededFields } from '../../format/rows/header-check.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { columnsMax } from '../../core/limits.ts';
import { didYouMean } from '../../core/nearest.ts';
import { besideNames, newName, oldName, stagedName } from '../../db/names.ts';
import { timeTypes, type Known } from './declared-values.ts';
import { nameProblem, writtenNameProblem } from '../names.ts';
import type { Problems } from '../problems.ts';
import type { PublishedTable } from './modes/contract.ts';
import { declaredMode } from './modes/registry.ts';
import { isOfFiles } from './server-column-spec.ts';

/** Returns the option that needs staged rows; undefined: `staging: 'none'` is allowed. */
export const needOfStaging = ({
  publish,
  partitionBy,
}: Pick<SourceTableSpec, 'publish'> & { readonly partitionBy?: unknown }): string | undefined => {
  if (partitionBy !== undefined) return 'partitionBy';
  const { name, takesParts } = meaningOf(publish);
  return takesParts ? `publish: '${name}'` : undefined;
};

type StagedKeys = 'staging' | 'filter' | 'missing' | 'extra' | 'publish';

interface StagingInput extends Pick<SourceTableSpec, StagedKeys> {
  readonly partitionBy?: unknown;
  readonly columns?: object | undefined;
  readonly transform?: unknown;
  readonly row?: unknown;
}

/**
 * Checks that staging 'text' has SQL but no columns, that other staging has columns but no SQL, and
 * that 'none' is allowed.
 */
export const checkStaging = (table: StagingInput, problems: Problems): void => {
  const need = needOfStaging(table);
  if (table.staging === 'none' && need !== undefined)
    problems.add(`${need} needs staging: 'typed' or 'text'; remove staging`);
  if (table.staging !== 'text') {
    problems.add(columnsProblem(table.columns));
    if (table.transform !== undefined)
      problems.add(
        "transform needs staging: 'text'; or derive another table with from: ['…'] and the transform",
      );
    if (table.row !== undefined)
      problems.add('row is only for tables that SQL makes; here the columns declare it, remove row');
    return;
  }
  if (table.transform === undefined)
    problems.add("staging: 'text' needs transform: sqlFile('….sql'), which makes the rows");
  if (table.columns !== undefined)
    problems.add("staging: 'text' allows no columns, the SQL makes them; remove columns");
  const defaults = { missing: 'error', extra: 'ignore' } as const;
  for (const key of ['missing', 'extra'] as const)
    if (table[key] !== defaults[key])
      problems.add(`staging: 'text' allows no ${key}: every field of the files is a column; remove ${key}`);
  if (table.filter.length > 0)
    problems.add("staging: 'text' allows no filter; put a where clause into the SQL");
};

const columnsProblem = (declared: object | undefined): string | undefined => {
  if (declared === undefined) return "has no columns; declare them, or use staging: 'text' with a transform";
  const columns: unknown[] = Object.values(declared);
  if (columns.length === 0) return 'columns is empty; declare at least one';
  if (!columns.some(isOfFiles))
    return 'columns has only columns that the server fills; declare one with values from the files';
  return columns.length > columnsMax
    ? `has ${columns.length} columns, and PostgreSQL allows ${columnsMax}; leave some out`
    : undefined;
};

export const checkKey = (
  primaryKey: readonly string[],
  known: Known,
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  checkColumnNames(primaryKey, known, problems.at('primaryKey'));
  for (const name of new Set(primaryKey))
    if (columns.some((column) => column.name === name && column.nullable))
      problems.at(`column ${name}`).add('is in the primaryKey and cannot be nullable; remove .nullable()');
};

export const checkIndexColumns = (indexes: readonly IndexSpec[], known: Known, problems: Problems): void => {
  for (const { name, columns, include } of indexes)
    checkColumnNames([...columns, ...include], known, problems.at(`index ${name}`));
};

/** A unique key must have the partition column: rows are unique only within their partition. */
export const checkHoldsPartition = (
  key: readonly string[],
  partitionBy: PartitionSpec | undefined,
  problems: Problems,
): void => {
  const name = partitionBy?.column;
  if (name === undefined || key.includes(name)) return;
  const rule = `PostgreSQL keeps a row unique only within its partition; add '${name}'`;
  problems.add(`must contain ${name}, of partitionBy: ${rule}`);
};

export const checkPartitions = (
  table: Pick<SourceTableSpec, 'partitionBy' | 'primaryKey' | 'indexes' | 'keep'>,
  known: Known,
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  const { partitionBy, primaryKey } = table;
  if (partitionBy === undefined) return;
  const { column: name, by } = partitionBy;
  const here = problems.at('partitionBy');
  checkColumnNames([name], known, here);
  const column = columns.find((one) => one.name === name);
  if (column?.nullable === true)
    here.add(
      `column ${name} cannot be nullable, because a row without it has no partition; remove .nullable()`,
    );
  if (by === 'range' && column !== undefined && !timeTypes.includes(column.type))
    here.add(`range needs a date or timestamp, and ${name} is ${column.type}; use list or hash`);
  if (table.keep !== undefined) here.add('keep is only for tables that are replaced as a whole; remove keep');
  if (primaryKey.length > 0) checkHoldsPartition(primaryKey, partitionBy, problems.at('primaryKey'));
  for (const index of table.indexes)
    if (index.unique) checkHoldsPartition(index.columns, partitionBy, problems.at(`index ${index.name}`));
};

export const checkColumnNames = (names: readonly string[], known: Known, problems: Problems): void => {
  names.forEach((name, index) => {
    if (known === undefined) problems.add(nameProblem(name), 'column');
    else if (!known.includes(name))
      problems.add(`\`${name}\` is not a column of the table${didYouMean(name, known)}`);
    if (names.indexOf(name) !== index) problems.add(`names \`${name}\` twice; remove one`);
  });
};

const fieldsIn = (header: readonly string[], dialect: Dialect) =>
  fieldsOf({ header, name: '', constants: {} }, dialect);

/** True if a field has one value for all records of a file: a part of the path, or a constant. */
const isOfFile = ({ source: { constants }, format }: Reading, ref: FieldRef): boolean =>
  (typeof ref === 'object' && 'path' in ref) ||
  (typeof ref !== 'number' &&
    fieldsOf({ header: [], name: '', constants }, format.dialect).indexesOf(ref).length > 0);

const deletedOf = ({ publish }: SourceTableSpec): readonly FilterSpec[] =>
  typeof publish === 'object' && 'deleted' in publish ? publish.deleted : [];

/** Refuses a constant that no column and no filter names: the name is probably misspelt. */
export const checkConstants = (table: SourceTableSpec, problems: Problems): void => {
  const needed = neededFields(table.columns, [...table.filter, ...deletedOf(table)]);
  for (const { source, format } of table.readings)
    for (const name of Object.keys(source.constants)) {
      const { indexOf } = fieldsIn([name], format.dialect);
      if (!needed.some((ref) => typeof ref !== 'number' && indexOf(ref) === 0))
        problems
          .at('csv')
          .add(`the constant \`${name}\` of ${source.locations[0]} is named by no column and no filter`);
    }
};

export const checkHeaders = (table: SourceTableSpec, problems: Problems): void => {
  for (const reading of table.readings) {
    if (reading.format.dialect.header === true) continue;
    const problemOf = fieldProblemsOf(table, reading);
    for (const { name, headers } of table.columns)
      for (const ref of headers) problems.at(`column ${name}`).add(problemOf(ref));
    for (const ref of neededFields([], deletedOf(table))) problems.at('publish.deleted').add(problemOf(ref));
    for (const ref of neededFields([], table.filter)) problems.at('filter').add(problemOf(ref));
  }
};

const fieldProblemsOf = (
  table: SourceTableSpec,
  reading: Reading,
): ((ref: FieldRef) => string | undefined) => {
  const { dialect } = reading.format;
  const of = table.readings.length === 1 ? 'csv(…, ' : `${reading.source.locations[0]} (`;
  const names = typeof dialect.header === 'boolean' ? [] : dialect.header;
  const { indexesOf } = fieldsIn(names, dialect);
  const isElsewhere = (ref: FieldRef): boolean =>
    table.missing === 'null' &&
    table.readings.some(({ format: { dialect: other } }) =>
      typeof other.header === 'boolean'
        ? other.header
        : fieldsIn(other.header, other).indexesOf(ref).length > 0,
    );
  return (ref) => {
    if (isOfFile(reading, ref)) return undefined;
    if (dialect.header === false)
      return typeof ref === 'number'
        ? undefined
        : `${of}{ header: false }) has no names; use the position of the field, from 1`;
    const [first, second] = indexesOf(ref);
    const name = typeof ref === 'object' && 'from' in ref ? ref.from.join('` or `') : mainName(ref);
    const header = `${of}{ header: […] })`;
    if (first === undefined)
      return isElsewhere(ref) ? undefined : `${header} has no field \`${name}\`${didYouMean(name, names)}`;
    return second !== undefined && names[first] !== names[second]
      ? `${header} has two fields that match \`${name}\`, at positions ${first + 1} and ${second + 1}`
      : undefined;
  };
};

/** Refuses equal names: tables, indexes and unique constraints of a schema share a namespace. */
export const checkRelationNames = (tables: readonly TableSpec[], problems: Problems): void => {
  const taken = new Map<string, string>(tables.map(({ name }) => [name, `table ${name}`]));
  for (const { name, primaryKey } of tables)
    if (primaryKey.length > 0) taken.set(`${name}_pkey`, `the primary key of table ${name}`);
  const take = (name: string, owner: string, part: string, instead: string): void => {
    const other = taken.get(name);
    if (other === undefined) taken.set(name, owner);
    else problems.at(part).add(`the name is taken by ${other}; give another with ${instead}`);
  };
  for (const { name: table, constraints = [] } of tables)
    for (const { kind, name } of constraints)
      if (kind === 'unique')
        take(
          name,
          `a constraint of table ${table}`,
          `table ${table}, unique ${name}`,
          "{ columns, name: '…' }",
        );
  for (const { name: table, indexes } of tables)
    for (const { name } of indexes)
      take(name, `an index of table ${table}`, `table ${table}, index ${name}`, "{ name: '…' }");
};

/** Names under which SQL files read rows of a table, beside the table's own name. */
const writtenNames = (table: TableSpec, tables: readonly TableSpec[]): readonly string[] => {
  const isMergedBySql = tables.some(({ kind, publish }) => kind === 'derived' && publish !== 'replace');
  return [
    ...(isMergedBySql ? [newName(table.name), oldName(table.name)] : []),
    ...(table.kind === 'source' && table.staging === 'text' ? [stagedName(table.name)] : []),
  ];
};

/** Refuses tables with a name that is made from the name of another table while a run builds. */
export const checkMadeNames = (tables: readonly TableSpec[], problems: Problems): void => {
  const names = new Set(tables.map(({ name }) => name));
  for (const table of tables) {
    const written = writtenNames(table, tables);
    for (const made of written) problems.at(`table ${table.name}`).add(writtenNameProblem(made));
    for (const made of [...written, ...besideNames(table.name)])
      if (names.has(made))
        problems
          .at(`table ${made}`)
          .add(`a run needs this name for rows of ${table.name}; choose another name`);
  }
};

export const checkPublish = (
  table: PublishedTable<PublishSpec> & Pick<TableSpec, 'evolve' | 'keep'>,
  known: Known,
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  const { stays, takesParts, mayBeDerived, changed } = meaningOf(table.publish);
  if (!stays && table.evolve !== undefined)
    problems.add('evolve has no effect on a table that every run replaces; remove evolve');
  if (takesParts && table.keep !== undefined)
    problems.add("keep needs publish: 'replace', which is the default; remove keep");
  if (table.staging === undefined && mayBeDerived !== true)
    return problems.add(
      "is made from other tables, and can only be replaced or merged; remove publish, or use 'merge'",
    );
  if (table.staging === undefined && takesParts && changed !== 'error')
    problems.add('has no files; remove changed');
  declaredMode(table.publish).check(table, known, columns, problems);
};
