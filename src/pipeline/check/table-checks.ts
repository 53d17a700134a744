// What must hold between the parts of a table: staging, key, indexes, headers, names.

import type {
  ColumnSpec,
  FieldRef,
  FilterSpec,
  IndexSpec,
  PartitionSpec,
  Reading,
  SourceTableSpec,
  TableSpec,
} from '../../declaration.ts';
import { fieldsOf, mainName } from '../../format/file-fields.ts';
import { neededFields } from '../../format/header-check.ts';
import { columnsMax } from '../../limits.ts';
import { newName, oldName } from '../../publish/names.ts';
import { derivedProblem, nameProblem } from './names.ts';
import { isOfFiles } from './shape/server-column-spec.ts';
import { addProblem, type Problems } from './problems.ts';
import { didYouMean } from '../../nearest.ts';

interface StagingInput {
  readonly staging: 'typed' | 'text' | 'none';
  readonly columns?: object | undefined;
  readonly transform?: unknown;
  readonly row?: unknown;
  readonly filter: readonly FilterSpec[];
  readonly missing: 'error' | 'null';
  readonly extra: 'ignore' | 'error';
}

/** typed, none: columns and no SQL · text: SQL and no columns. */
export const checkStaging = (where: string, table: StagingInput, problems: Problems): void => {
  const add = (what: string): void => addProblem(problems, where, what);
  if (table.staging !== 'text') {
    const columns: unknown[] | undefined = table.columns && Object.values(table.columns);
    if (columns === undefined) add("has no columns; declare them, or use staging: 'text' with a transform");
    else if (columns.length === 0) add('columns is empty; declare at least one');
    else if (!columns.some(isOfFiles))
      add('columns has only some that the server fills; declare one that files have');
    else if (columns.length > columnsMax)
      add(`has ${columns.length} columns, and PostgreSQL allows ${columnsMax}; leave some out`);
    if (table.transform !== undefined) {
      add("transform needs staging: 'text'; or derive another table with from: ['…'] and the transform");
    }
    if (table.row !== undefined)
      add('row is only for tables that SQL makes; here the columns declare it, remove row');
    return;
  }
  if (table.transform === undefined)
    add("staging: 'text' needs transform: sqlFile('….sql'), which makes the rows");
  if (table.columns !== undefined)
    add("staging: 'text' allows no columns, the SQL makes them; remove columns");
  for (const key of ['missing', 'extra'] as const)
    if (table[key] !== (key === 'missing' ? 'error' : 'ignore'))
      add(`staging: 'text' allows no ${key}: every field of the files is a column; remove ${key}`);
  if (table.filter.length > 0) add("staging: 'text' allows no filter; put a where clause into the SQL");
};

/** `known` is undefined where SQL makes the columns. */
export const checkKey = (
  where: string,
  primaryKey: readonly string[],
  known: readonly string[] | undefined,
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  checkColumnNames(`${where}, primaryKey`, primaryKey, known, problems);
  for (const name of new Set(primaryKey)) {
    if (columns.some((column) => column.name === name && column.nullable)) {
      addProblem(
        problems,
        `${where}, column ${name}`,
        'is in the primaryKey and cannot be nullable; remove .nullable()',
      );
    }
  }
};

export const checkIndexColumns = (
  where: string,
  indexes: readonly IndexSpec[],
  known: readonly string[] | undefined,
  problems: Problems,
): void => {
  for (const { name, columns, include } of indexes) {
    checkColumnNames(`${where}, index ${name}`, [...columns, ...include], known, problems);
  }
};

interface Divided {
  readonly partitionBy?: PartitionSpec | undefined;
  readonly primaryKey: readonly string[];
  readonly indexes: readonly IndexSpec[];
  readonly staging?: 'typed' | 'text' | 'none';
  readonly keep?: number | undefined;
}

/** A row belongs to one partition, and the server keeps it unique only there: so keys hold the column that chooses it. */
export const checkHoldsPartition = (
  where: string,
  key: readonly string[],
  partitionBy: PartitionSpec | undefined,
  problems: Problems,
): void => {
  const name = partitionBy?.column;
  if (name === undefined || key.includes(name)) return;
  const rule = `PostgreSQL keeps a row unique only within its partition; add '${name}'`;
  addProblem(problems, where, `must contain ${name}, of partitionBy: ${rule}`);
};

/** Types whose values are divided by time. */
const timeTypes = new Set(['date', 'timestamp', 'timestamptz']);

/** What `partitionBy` needs of the table. */
export const checkPartitions = (
  where: string,
  { partitionBy, primaryKey, indexes, staging, keep }: Divided,
  known: readonly string[] | undefined,
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  if (partitionBy === undefined) return;
  const { column: name, by } = partitionBy;
  const at = `${where}, partitionBy`;
  checkColumnNames(at, [name], known, problems);
  const column = columns.find((one) => one.name === name);
  const add = (what: string): void => addProblem(problems, at, what);
  if (column?.nullable === true)
    add(`column ${name} cannot be nullable, because a row without it has no partition; remove .nullable()`);
  if (by === 'range' && column !== undefined && !timeTypes.has(column.type))
    add(`range needs a date or timestamp, and ${name} is ${column.type}; use list or hash`);
  if (staging === 'none')
    add("needs staging: 'typed' or 'text', from which partitions are made; remove staging");
  if (keep !== undefined) add('partitions that are replaced are not kept; remove keep');
  if (primaryKey.length > 0) checkHoldsPartition(`${where}, primaryKey`, primaryKey, partitionBy, problems);
  for (const index of indexes)
    if (index.unique)
      checkHoldsPartition(`${where}, index ${index.name}`, index.columns, partitionBy, problems);
};

export const checkColumnNames = (
  where: string,
  names: readonly string[],
  known: readonly string[] | undefined,
  problems: Problems,
): void => {
  names.forEach((name, place) => {
    const problem = known === undefined ? nameProblem(name) : undefined;
    if (problem !== undefined) addProblem(problems, where, `column ${problem}`);
    if (known?.includes(name) === false) {
      addProblem(problems, where, `\`${name}\` is not a column of the table${didYouMean(name, known)}`);
    }
    if (names.indexOf(name) !== place) addProblem(problems, where, `names \`${name}\` twice; remove one`);
  });
};

/** Whether a field is one that all records of a file have: a part of its path, or a constant. */
const isOfFile = ({ source: { constants }, format }: Reading, ref: FieldRef): boolean =>
  (typeof ref === 'object' && 'path' in ref) ||
  (typeof ref !== 'number' &&
    fieldsOf({ header: [], name: '', constants }, format.dialect).placesOf(ref).length > 0);

/** A constant that no column and no filter names is a typing error. */
export const checkConstants = (where: string, table: SourceTableSpec, problems: Problems): void => {
  const needed = neededFields(table.columns, table.filter);
  for (const { source, format } of table.readings)
    for (const name of Object.keys(source.constants)) {
      const one = fieldsOf({ header: [name], name: '', constants: {} }, format.dialect);
      if (!needed.some((ref) => typeof ref !== 'number' && one.placeOf(ref) === 0))
        addProblem(
          problems,
          `${where}, csv`,
          `the constant \`${name}\` of ${source.locations[0]} is named by no column and no filter`,
        );
    }
};

/** When the declaration itself gives the header, we know already which fields there are. */
export const checkHeaders = (where: string, table: SourceTableSpec, problems: Problems): void => {
  for (const reading of table.readings) checkGivenHeader(where, table, reading, problems);
};

const checkGivenHeader = (
  where: string,
  table: SourceTableSpec,
  reading: Reading,
  problems: Problems,
): void => {
  const { dialect } = reading.format;
  const given = dialect.header;
  if (given === true) return;
  const of = table.readings.length === 1 ? 'csv(…, ' : `${reading.source.locations[0]} (`;
  const names = given === false ? [] : given;
  const { placesOf } = fieldsOf({ header: names, name: '', constants: {} }, dialect);
  /** Files of another location have the field, and these may lack it. */
  const isElsewhere = (ref: FieldRef): boolean =>
    table.missing === 'null' &&
    table.readings.some(
      ({ format: { dialect: other } }) =>
        other.header === true ||
        (other.header !== false &&
          fieldsOf({ header: other.header, name: '', constants: {} }, other).placesOf(ref).length > 0),
    );
  const check = (place: string, ref: FieldRef): void => {
    if (isOfFile(reading, ref)) return;
    if (given === false) {
      if (typeof ref !== 'number')
        addProblem(
          problems,
          place,
          `${of}{ header: false }) has no names; use the position of the field, from 1`,
        );
      return;
    }
    const [first, second] = placesOf(ref);
    const name = typeof ref === 'object' && 'from' in ref ? ref.from.join('` or `') : mainName(ref);
    const what = `${of}{ header: […] }) names`;
    if (first === undefined && isElsewhere(ref)) return;
    if (first === undefined)
      addProblem(problems, place, `${what} no field \`${name}\`${didYouMean(name, given)}`);
    else if (second !== undefined && given[first] !== given[second])
      addProblem(problems, place, `${what} two fields, ${first + 1} and ${second + 1}, that are \`${name}\``);
  };
  for (const { name, headers, test } of table.columns) {
    const place = test === undefined ? `column ${name}` : 'publish.deleted';
    for (const ref of headers) check(`${where}, ${place}`, ref);
  }
  for (const ref of neededFields([], table.filter)) check(`${where}, filter`, ref);
};

/** Tables and indexes of one schema share their names. */
export const checkRelationNames = (tables: readonly TableSpec[], problems: Problems): void => {
  const taken = new Map<string, string>(tables.map(({ name }) => [name, `table ${name}`]));
  for (const { name: table, primaryKey } of tables) {
    if (primaryKey.length > 0) taken.set(`${table}_pkey`, `the primary key of table ${table}`);
  }
  for (const { name: table, constraints = [] } of tables)
    for (const { kind, name } of constraints) {
      if (kind !== 'unique') continue;
      const owner = taken.get(name);
      const where = `table ${table}, unique ${name}`;
      if (owner !== undefined)
        addProblem(
          problems,
          where,
          `the name is taken by ${owner}; give another with { columns, name: '…' }`,
        );
      else taken.set(name, `a constraint of table ${table}`);
    }
  for (const table of tables) {
    for (const index of table.indexes) {
      const owner = taken.get(index.name);
      const where = `table ${table.name}, index ${index.name}`;
      if (owner !== undefined)
        addProblem(problems, where, `the name is taken by ${owner}; give another with { name: '…' }`);
      else taken.set(index.name, `an index of table ${table.name}`);
    }
  }
};

/** SQL of a merged table finds new and old rows of a table under names that are made of its name. */
export const checkShownNames = (tables: readonly TableSpec[], problems: Problems): void => {
  if (tables.every(({ kind, publish }) => kind === 'source' || publish === 'replace')) return;
  const names = tables.map(({ name }) => name);
  for (const name of names)
    for (const made of [newName(name), oldName(name)]) {
      if (names.includes(made))
        addProblem(
          problems,
          `table ${made}`,
          `SQL of merged tables calls rows of ${name} so; choose another name`,
        );
      const problem = derivedProblem('name for SQL', made, 'the name of the table');
      if (problem !== undefined) addProblem(problems, `table ${name}`, problem);
    }
};
