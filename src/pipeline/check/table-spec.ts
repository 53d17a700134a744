// From the tables as written to checked TableSpecs; every problem names its table.

import { z } from 'zod';
import {
  evolveChoices,
  type ColumnSpec,
  type DerivedTableSpec,
  type Guard,
  type IndexSpec,
  type SourceTableSpec,
  type TableSpec,
} from '../../declaration.ts';
import { EtlError } from '../../errors.ts';
import { attributeShape, readAttributes } from './shape/attribute-spec.ts';
import { columnSpec } from './column-spec.ts';
import { constraintShape, readConstraints } from './constraints/constraint-spec.ts';
import { verbatimProblems } from './dialect-problems.ts';
import { withTargets } from './constraints/foreign-key-spec.ts';
import { csvSourceSchema } from '../declare/csv.ts';
import { readingsOf } from './csv-spec.ts';
import { filterSchema } from '../declare/filter.ts';
import { checkHistory, withVersions } from './history-spec.ts';
import { indexSpec } from '../declare/index-definition.ts';
import { madeColumns, zodObject } from '../declare/made-row.ts';
import { isOfFiles, readServerColumns } from './shape/server-column-spec.ts';
import { checkDerived, checkMerge, stagedForMerge } from './merge-spec.ts';
import { tableNameProblem } from './names.ts';
import {
  checkEvolve,
  checkKeep,
  lineageOf,
  lineageSchema,
  publishSchema,
  withLineage,
} from './publish-spec.ts';
import { partitionBySchema } from '../declare/partition-by.ts';
import { addProblem, mustBe, mustBeOneOf, parsePart, strict, type Problems } from './problems.ts';
import { limitSchema, percentOf, shareSchema } from '../declare/share.ts';
import { sqlFileSchema } from '../declare/sql-file.ts';
import { didYouMean } from '../../nearest.ts';
import {
  checkConstants,
  checkHeaders,
  checkIndexColumns,
  checkKey,
  checkPartitions,
  checkRelationNames,
  checkShownNames,
  checkStaging,
} from './table-checks.ts';
import { findCycle } from './table-order.ts';
import { withTests } from './test-spec.ts';

const nameList = z.array(z.string(mustBe('a name')), mustBe('a list of names'));
const missings = ['error', 'null'] as const;
const copies = ['refuse', 'load'] as const;
const extras = ['ignore', 'error'] as const;
const stagings = ['typed', 'text', 'none'] as const;

/** A file that came empty or was cut off shows in half of the rows; what loses more on purpose says so. */
const shrinkMaxDefault = '50%';

const guardSchema = z.preprocess(
  (value = {}) => (value === false ? { shrinkMax: '100%' } : value),
  strict(
    {
      rowsMin: z.int(mustBe('a number of rows')).min(0, mustBe('a number of rows')).default(0),
      shrinkMax: shareSchema("a share such as '20%'").default(shrinkMaxDefault),
    },
    "false, or an object such as { rowsMin: 1000, shrinkMax: '20%' }",
  ).transform(({ rowsMin, shrinkMax }): Guard => ({ rowsMin, shrinkMaxPercent: percentOf(shrinkMax) })),
);

/** Each takes as much room as the table itself. */
const keepMax = 100;
const keepText = mustBe(`a number of versions, from 1 to ${keepMax}`);

const commonShape = {
  primaryKey: nameList.default([]),
  indexes: z.array(z.unknown(), mustBe("a list of index('column')")).default([]),
  ...constraintShape,
  tests: z.array(z.unknown(), mustBe("a list such as [expect.unique('id')]")).default([]),
  ...attributeShape,
  publish: publishSchema,
  evolve: z.enum(evolveChoices, mustBeOneOf(evolveChoices)).optional(),
  partitionBy: partitionBySchema.optional(),
  comment: z.string(mustBe('a text')).optional(),
  guard: guardSchema,
  keep: z.int(keepText).min(1, keepText).max(keepMax, keepText).optional(),
};

const sourceTableSchema = strict({
  ...commonShape,
  source: csvSourceSchema,
  columns: z.record(z.string(), z.unknown(), mustBe('an object of columns')).optional(),
  staging: z.enum(stagings, mustBeOneOf(stagings)).default('typed'),
  transform: sqlFileSchema.optional(),
  row: zodObject.optional(),
  filter: filterSchema,
  missing: z.enum(missings, mustBeOneOf(missings)).default('error'),
  extra: z.enum(extras, mustBeOneOf(extras)).default('ignore'),
  copies: z.enum(copies, mustBeOneOf(copies)).optional(),
  rejectLimit: limitSchema('records').default({ kind: 'count', records: 0 }),
  lineage: lineageSchema,
});

const derivedTableSchema = strict({
  ...commonShape,
  from: nameList.min(1, mustBe('a list of tables of this pipeline')),
  transform: sqlFileSchema,
  row: zodObject.optional(),
});

const tablesSchema = z
  .record(z.string(), z.unknown(), mustBe('an object of tables'))
  .refine((tables) => Object.keys(tables).length > 0, 'must hold at least one table');

/** The checked tables, in declared order; problems are added. Throws ETL_DEFINITION_CYCLE if there are none. */
export const tableSpecs = (input: unknown, pipeline: string, problems: Problems): readonly TableSpec[] => {
  const tables = parsePart(tablesSchema, input, '', problems, 'tables');
  if (tables === undefined) return [];
  const written = Object.entries(tables).flatMap(([name, table]) => {
    const problem = tableNameProblem(name, pipeline);
    if (problem !== undefined) addProblem(problems, `table ${name}`, problem);
    return tableSpec(name, table, Object.keys(tables), problems) ?? [];
  });
  const specs = withTargets(written, problems);
  checkRelationNames(specs, problems);
  checkShownNames(specs, problems);
  const cycle = problems.length === 0 ? findCycle(specs) : undefined;
  if (cycle !== undefined)
    throw new EtlError('ETL_DEFINITION_CYCLE', { pipeline, cycle: cycle.join(' -> ') });
  return withTests(specs, tables, problems);
};

const tableSpec = (
  name: string,
  input: unknown,
  tables: readonly string[],
  problems: Problems,
): TableSpec | undefined => {
  const where = `table ${name}`;
  const { source, from } = (input ?? {}) as { source?: unknown; from?: unknown };
  if ((source === undefined) === (from === undefined)) {
    const both = source === undefined ? 'has neither source nor from' : 'has both source and from';
    addProblem(
      problems,
      where,
      `${both}; give source: csv(…) to load files, or from: ['table'] to derive it with SQL`,
    );
    return undefined;
  }
  return source === undefined
    ? derivedTable(name, input, tables, problems)
    : sourceTable(name, input, problems);
};

const sourceTable = (name: string, input: unknown, problems: Problems): SourceTableSpec | undefined => {
  const where = `table ${name}`;
  const table = parsePart(sourceTableSchema, input, where, problems);
  const written = (input as { columns?: unknown }).columns;
  // Columns are read even when something else is wrong, so that all problems come at once.
  const columns = readColumns(name, table === undefined ? written : table.columns, problems);
  if (table === undefined) return undefined;
  const readings = readingsOf(table.source, where, problems, table.staging === 'text');
  checkStaging(where, table, problems);
  const indexes = readIndexes(name, table.indexes, problems);
  const row = table.row && madeColumns(table.row);
  const declared = table.staging === 'text' ? table.row?.shape : table.columns;
  const known = declared && [...Object.keys(declared), ...lineageOf(table.lineage, table.publish)];
  const serverColumns = readServerColumns(where, table.columns, table.partitionBy, problems);
  const ofFiles = known?.filter((one) => serverColumns?.every(({ name: made }) => made !== one) ?? true);
  const isMatched = table.publish !== 'replace' && table.publish.mode !== 'append';
  checkKey(where, table.primaryKey, isMatched ? ofFiles : known, columns, problems);
  checkIndexColumns(where, indexes, known, problems);
  checkPartitions(where, { ...table, indexes }, ofFiles, columns, problems);
  const constraints = readConstraints(name, table, known, problems);
  const attributes = readAttributes(name, table, serverColumns, known, problems);
  checkMerge(where, { ...table, name }, ofFiles, problems);
  checkHistory(where, { ...table, name, lineage: table.lineage }, columns, problems);
  if (readings === undefined) return undefined;
  const { transform, comment } = table;
  const { row: _, source: _source, lineage, partitionBy, tests: _tests, ...keys } = withoutRead(table);
  const spec: SourceTableSpec = {
    ...keys,
    name,
    kind: 'source',
    readings,
    columns: [...columns, ...stagedForMerge(table.publish)],
    indexes,
    ...constraints,
    ...attributes,
    transform,
    comment,
    ...(partitionBy && { partitionBy }),
    ...(row && { row }),
  };
  checkEvolve(where, spec, problems);
  checkHeaders(where, spec, problems);
  checkConstants(where, spec, problems);
  const texts = readings.flatMap(({ format }) => verbatimProblems(format.dialect));
  if (table.staging === 'text')
    for (const what of new Set(texts)) addProblem(problems, `${where}, csv`, what);
  return withLineage(where, withVersions(spec), lineage, problems);
};

const derivedTable = (
  name: string,
  input: unknown,
  tables: readonly string[],
  problems: Problems,
): DerivedTableSpec | undefined => {
  const where = `table ${name}`;
  const table = parsePart(derivedTableSchema, input, where, problems);
  if (table === undefined) return undefined;
  for (const source of table.from) {
    if (!tables.includes(source)) {
      addProblem(
        problems,
        where,
        `from names \`${source}\`, which is not a table of this pipeline${didYouMean(source, tables)}`,
      );
    }
  }
  checkEvolve(where, table, problems);
  checkKeep(where, table, problems);
  const indexes = readIndexes(name, table.indexes, problems);
  const { row: written, partitionBy, tests: _tests, ...keys } = withoutRead(table);
  const row = written && madeColumns(written);
  const known = row?.map((column) => column.name);
  checkKey(where, table.primaryKey, known, [], problems);
  checkIndexColumns(where, indexes, known, problems);
  checkDerived(where, table.publish, problems);
  checkMerge(where, { ...keys, name }, known, problems);
  checkPartitions(where, { ...table, indexes }, known, [], problems);
  const constraints = readConstraints(name, table, known, problems);
  const attributes = readAttributes(name, table, undefined, known, problems);
  return {
    ...keys,
    name,
    kind: 'derived',
    indexes,
    ...constraints,
    ...attributes,
    comment: table.comment,
    ...(partitionBy && { partitionBy }),
    ...(row && { row }),
  };
};

/** The keys but those that are read into constraints and attributes. */
const withoutRead = <Written extends object>(
  table: Written,
): Omit<Written, keyof typeof constraintShape | keyof typeof attributeShape> =>
  Object.fromEntries(
    Object.entries(table).filter(([key]) => !(key in constraintShape || key in attributeShape)),
  ) as Written;

const readColumns = (table: string, written: unknown, problems: Problems): ColumnSpec[] =>
  typeof written === 'object' && written !== null && !Array.isArray(written)
    ? Object.entries(written).flatMap(([name, column]) =>
        isOfFiles(column) ? (columnSpec(name, column, table, problems) ?? []) : [],
      )
    : [];

const readIndexes = (table: string, written: readonly unknown[], problems: Problems): IndexSpec[] =>
  written.flatMap((index, place) => indexSpec(index, place + 1, table, problems) ?? []);
