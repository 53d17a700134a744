// rowSchema(): makes the Zod schema of a table's rows from the declared columns.

import { z } from 'zod';
import type { ColumnSpec } from '../core/declaration.ts';
import { bindPipeline } from './bind.ts';
import { callTables, type Pipeline, type Row, type TableName } from './define-pipeline.ts';
import { EtlError } from '../core/errors/errors.ts';
import { isRefusal, type ValueShape } from '../format/types/contract.ts';
import { canonicalReader, typeOf } from '../format/types/registry.ts';
import { ruleTests } from '../format/rows/column-rules.ts';
import { didYouMean } from '../core/nearest.ts';

/** A Zod object with one schema for each column. */
export type RowSchema<Values> = z.ZodObject<{
  -readonly [Name in keyof Values]: z.ZodType<Values[Name]>;
}>;

/**
 * Returns a Zod object that checks one row of a table by the rules of its columns: `rowSchema(shop,
 * 'sale').parse({ id: 1n, note: null })`.
 *
 * Values are those that column checks get: numeric values and dates are strings, bigint is a
 * bigint. For a column with `.zod(schema)`, that schema parses the value, too. For a table that SQL
 * makes, returns its `row`; without `row`, a loose object that accepts everything.
 *
 * @param params parameters of the pipeline, if it has any.
 * @throws EtlError ETL_USAGE: the pipeline has no such table · ETL_PARAM: a parameter is not valid.
 */
export const rowSchema = <P extends Pipeline, Name extends TableName<P>>(
  pipeline: P,
  table: Name,
  params: Readonly<Record<string, unknown>> = {},
): RowSchema<Row<P, Name>> => {
  const { tables, params: values } = bindPipeline(pipeline, { params, directory: '' });
  const spec = tables.find(({ name }) => name === table);
  if (spec === undefined) {
    const known = tables.map(({ name }) => name);
    throw new EtlError('ETL_USAGE', {
      problem: `pipeline ${pipeline.name} has no table \`${table}\`${didYouMean(table, known)}`,
      hint: 'Name a table of the pipeline.',
    });
  }
  const schema =
    spec.kind === 'derived' || spec.staging === 'text'
      ? (declaredRow(pipeline, values, table) ?? z.looseObject({}))
      : z.object(
          Object.fromEntries(
            spec.columns
              .filter(({ lineage, stagedOnly }) => lineage === undefined && stagedOnly !== true)
              .map((column) => [column.name, columnSchema(column)]),
          ),
        );
  return schema as unknown as RowSchema<Row<P, Name>>;
};

/** Returns the z.object `row` of a declared table. The bound table has only its columns as data. */
const declaredRow = (pipeline: Pipeline, params: object, table: string): z.ZodObject | undefined =>
  (
    callTables(pipeline, params as Readonly<Record<string, unknown>>) as Record<string, { row?: z.ZodObject }>
  )[table]?.row;

const float = z.union([z.number(), z.nan(), z.literal(Infinity), z.literal(-Infinity)]);

/** Limits a text's characters as varchar does. Zod's max counts UTF-16 code units. */
const characters = (most: number): z.ZodType =>
  z.string().refine((text) => [...text].length <= most, `at most ${most} characters`);

const valueSchema = (shape: ValueShape): z.ZodType => {
  if (shape.kind === 'number') return z.int().min(shape.least).max(shape.most);
  if (shape.kind === 'bigint') return z.bigint().min(shape.least).max(shape.most);
  if (shape.kind !== 'string') return plainSchemas[shape.kind];
  return shape.charactersMax === undefined ? z.string() : characters(shape.charactersMax);
};

const plainSchemas = { float, boolean: z.boolean(), uuid: z.guid(), any: z.unknown() };

/** Adapts the column's rules, which test texts, to JavaScript values. */
const valueTests = (column: ColumnSpec) => {
  const type = typeOf(column);
  const read = canonicalReader(type, column.options);
  return ruleTests(column).map(({ test, message }) => ({
    message,
    test: (value: unknown): boolean => {
      const written = type.fromValue(value);
      const text = written === undefined ? undefined : read(written);
      return text !== undefined && !isRefusal(text) && test(text);
    },
  }));
};

const columnSchema = (column: ColumnSpec): z.ZodType => {
  let schema = valueSchema(typeOf(column).value(column.options));
  for (const { test, message } of valueTests(column)) schema = schema.refine(test, message);
  for (const { test, message } of column.checks)
    schema = schema.refine(test as (value: unknown) => boolean, message);
  // The type ColumnSchema has only safeParse, but column checks ensured that this is a Zod schema.
  if (column.schema !== undefined) schema = schema.pipe(column.schema as unknown as z.ZodType);
  return column.nullable ? schema.nullable() : schema;
};
