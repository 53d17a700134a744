// Checks the declared tables and returns their specifications. Every problem names its table.

import { z } from 'zod';
import {
  evolveChoices,
  type ColumnSpec,
  type DerivedTableSpec,
  type Guard,
  type IndexSpec,
  type SourceTableSpec,
  type TableSpec,
} from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { attributeShape, readAttributes } from './attribute-spec.ts';
import { columnSpec } from './column-spec.ts';
import { constraintShape, readConstraints } from './constraint-spec.ts';
import { verbatimProblems } from './dialect-problems.ts';
import { withTargets } from './foreign-key-spec.ts';
import { checkDistribution } from './distribution-spec.ts';
import { csvSourceSchema } from '../declare/csv.ts';
import { readingsOf } from './csv-spec.ts';
import { filterSchema } from '../declare/filter.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { indexSpec } from '../declare/index-definition.ts';
import { madeColumns, zodObject } from '../declare/made-row.ts';
import { isOfFiles, readServerColumns } from './server-column-spec.ts';
import { nameProblem } from '../names.ts';
import { lineageOf, lineageSchema, withLineage } from './lineage-spec.ts';
import { declaredMode, publishSchema } from './modes/registry.ts';
import { partitionBySchema } from '../declare/partition-by.ts';
import { choice, mustBe, named, strict, wholeNumber, type Problems } from '../problems.ts';
import { limitSchema, percentOf, shareSchema } from '../declare/share.ts';
import { sqlFileSchema } from '../declare/sql-file.ts';
import { didYouMean } from '../../core/nearest.ts';
import {
  checkConstants,
  checkHeaders,
  checkIndexColumns,
  checkKey,
  checkPartitions,
  checkPublish,
  checkRelationNames,
  checkMadeNames,
  checkStaging,
} from './table-checks.ts';
import { findCycle } from '../../publish/table/table-order.ts';
import { withTests } from './test-spec.ts';

const nameList = z.array(z.string(mustBe('a name')), mustBe('a list of names'));

/** Protects against an empty or truncated file, which would remove most rows of a table. */
const shrinkMaxDefault = '50%';

const guardSchema = z.preprocess(
  (value = {}) => (value === false ? { shrinkMax: '100%' } : value),
  strict(
    {
      rowsMin: wholeNumber('a number of rows', 0).default(0),
      shrinkMax: shareSchema("a share such as '20%'").default(shrinkMaxDefault),
    },
    "false, or an object such as { rowsMin: 1000, shrinkMax: '20%' }",
  ).transform(({ rowsMin, shrinkMax }): Guard => ({ rowsMin, shrinkMaxPercent: percentOf(shrinkMax) })),
);

/** Bounded, because each version takes as much space as the table itself. */
const keepMax = 100;

const commonShape = {
  primaryKey: nameList.default([]),
  indexes: z.array(z.unknown(), mustBe("a list of index('column')")).default([]),
  ...constraintShape,
  tests: z.array(z.unknown(), mustBe("a list such as [expect.unique('id')]")).default([]),
  ...attributeShape,
  publish: publishSchema,
  evolve: choice(evolveChoices).optional(),
  partitionBy: partitionBySchema.optional(),
  comment: z.string(mustBe('a text')).optional(),
  guard: guardSchema,
  keep: wholeNumber(`a number of versions, from 1 to ${keepMax}`, 1, keepMax).optional(),
};

const sourceTableSchema = strict({
  ...commonShape,
  source: csvSourceSchema,
  columns: named('an object of columns').optional(),
  staging: choice(['typed', 'text', 'none']).default('typed'),
  transform: sqlFileSchema.optional(),
  row: zodObject.optional(),
  filter: filterSchema,
  missing: choice(['error', 'null']).default('error'),
  extra: choice(['ignore', 'error']).default('ignore'),
  copies: choice(['refuse', 'load']).optional(),
  rejectLimit: limitSchema('records').default({ kind: 'count', records: 0 }),
  lineage: lineageSchema,
});

const derivedTableSchema = strict({
  ...commonShape,
  from: nameList.min(1, mustBe('a list of tables of this pipeline')),
  transform: sqlFileSchema,
  row: zodObject.optional(),
});

const tablesSchema = named('an object of tables').refine(
  (tables) => Object.keys(tables).length > 0,
  'must hold at least one table',
);

/** Checks the tables in declared order. Throws ETL_DEFINITION_CYCLE for a cycle of `from`. */
export const tableSpecs = (input: unknown, pipeline: string, problems: Problems): readonly TableSpec[] => {
  const tables = problems.parse(tablesSchema, input, 'tables');
  if (tables === undefined) return [];
  const written = Object.entries(tables).flatMap(([name, table]) => {
    const here = problems.at(`table ${name}`);
    here.add(nameProblem(name), 'the name');
    return tableSpec(name, table, Object.keys(tables), here) ?? [];
  });
  const specs = withTargets(written, problems);
  checkDistribution(specs, problems);
  checkRelationNames(specs, problems);
  checkMadeNames(specs, problems);
  const cycle = problems.count === 0 ? findCycle(specs) : undefined;
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
  const { source, from } = (input ?? {}) as { source?: unknown; from?: unknown };
  if ((source === undefined) === (from === undefined)) {
    const both = source === undefined ? 'has neither source nor from' : 'has both source and from';
    return problems.add(
      `${both}; give source: csv(…) to load files, or from: ['table'] to derive it with SQL`,
    );
  }
  return source === undefined
    ? derivedTable(name, input, tables, problems)
    : sourceTable(name, input, problems);
};

const sourceTable = (name: string, input: unknown, problems: Problems): SourceTableSpec | undefined => {
  const table = problems.parse(sourceTableSchema, input);
  const written = (input as { columns?: unknown }).columns;
  // Columns are checked even if another key is invalid, so that one error lists all problems.
  const columns = readColumns(table === undefined ? written : table.columns, problems);
  if (table === undefined) return undefined;
  const isVerbatim = table.staging === 'text';
  const readings = readingsOf(table.source, isVerbatim, problems.at('csv'));
  checkStaging(table, problems);
  const indexes = readIndexes(name, table.indexes, problems);
  const row = table.row && madeColumns(table.row);
  const declared = isVerbatim ? table.row?.shape : table.columns;
  const known = declared && [...Object.keys(declared), ...lineageOf(table.lineage, table.publish)];
  const serverColumns = readServerColumns(table.columns, table.partitionBy, problems);
  const ofFiles = known?.filter((one) => serverColumns?.every(({ name: made }) => made !== one) ?? true);
  const { rowsKnownBy, replacesPartitions } = meaningOf(table.publish);
  const isMatched = rowsKnownBy === 'key' || replacesPartitions === true;
  checkKey(table.primaryKey, isMatched ? ofFiles : known, columns, problems);
  checkIndexColumns(indexes, known, problems);
  checkPartitions({ ...table, indexes }, ofFiles, columns, problems);
  const constraints = readConstraints(name, table, known, problems);
  const attributes = readAttributes(table, serverColumns, known, problems);
  checkPublish({ ...table, name }, ofFiles, columns, problems);
  if (readings === undefined) return undefined;
  const { transform, comment } = table;
  const { row: _, source: _source, lineage, partitionBy, tests: _tests, ...keys } = withoutRead(table);
  const spec: SourceTableSpec = {
    ...keys,
    name,
    kind: 'source',
    readings,
    columns,
    indexes,
    ...constraints,
    ...attributes,
    transform,
    comment,
    ...(partitionBy && { partitionBy }),
    ...(row && { row }),
  };
  checkHeaders(spec, problems);
  checkConstants(spec, problems);
  if (isVerbatim)
    for (const what of readings.flatMap(({ format }) => verbatimProblems(format.dialect)))
      problems.at('csv').addOnce(what);
  return withLineage(declaredMode(spec.publish).complete(spec, spec.publish), lineage, problems);
};

const derivedTable = (
  name: string,
  input: unknown,
  tables: readonly string[],
  problems: Problems,
): DerivedTableSpec | undefined => {
  const table = problems.parse(derivedTableSchema, input);
  if (table === undefined) return undefined;
  for (const source of table.from)
    if (!tables.includes(source))
      problems.add(
        `from names \`${source}\`, which is not a table of this pipeline${didYouMean(source, tables)}`,
      );
  const indexes = readIndexes(name, table.indexes, problems);
  const { row: written, partitionBy, tests: _tests, ...keys } = withoutRead(table);
  const row = written && madeColumns(written);
  const known = row?.map((column) => column.name);
  checkKey(table.primaryKey, known, [], problems);
  checkIndexColumns(indexes, known, problems);
  checkPublish({ ...keys, name }, known, [], problems);
  checkPartitions({ ...table, indexes }, known, [], problems);
  const constraints = readConstraints(name, table, known, problems);
  const attributes = readAttributes(table, undefined, known, problems);
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

const withoutRead = <Written extends object>(
  table: Written,
): Omit<Written, keyof typeof constraintShape | keyof typeof attributeShape> =>
  Object.fromEntries(
    Object.entries(table).filter(([key]) => !(key in constraintShape || key in attributeShape)),
  ) as Written;

const readColumns = (written: unknown, problems: Problems): ColumnSpec[] =>
  typeof written === 'object' && written !== null && !Array.isArray(written)
    ? Object.entries(written).flatMap(([name, column]) =>
        isOfFiles(column) ? (columnSpec(name, column, problems.at(`column ${name}`)) ?? []) : [],
      )
    : [];

const readIndexes = (table: string, written: readonly unknown[], problems: Problems): IndexSpec[] =>
  written.flatMap((one, index) => indexSpec(one, table, problems.at(`index ${index + 1}`)) ?? []);
