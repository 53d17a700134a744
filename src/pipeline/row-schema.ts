// rowSchema(): the Zod schema of a table's row, made from the same columns as everything else.

import { z } from 'zod';
import type { ColumnSpec } from '../core/declaration/declaration.ts';
import { bindPipeline } from './bind.ts';
import { callTables, type Pipeline, type Row, type TableName } from './define-pipeline.ts';
import { EtlError } from '../core/errors/errors.ts';
import { isRefusal, type ValueShape } from '../format/types/contract.ts';
import { canonicalReader, typeOf } from '../format/types/registry.ts';
import { ruleTests } from '../format/rows/column-rules.ts';
import { didYouMean } from '../core/nearest.ts';

export type RowSchema<Values> = z.ZodObject<{
  -readonly [Name in keyof Values]: z.ZodType<Values[Name]>;
}>;

/**
 * A Zod object of one row, with the JavaScript values that checks see: numeric and dates are strings, bigint is
 * bigint. What `.zod(schema)` declared reads the value again. A table that SQL makes gives its `row`, and without one a
 * loose object: any column, any value.
 *
 * @param params of a pipeline that has some.
 * @throws EtlError ETL_USAGE when the pipeline has no such table · ETL_PARAM
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

/** As it is written: a bound table has it as data only. */
const declaredRow = (pipeline: Pipeline, params: object, table: string): z.ZodObject | undefined =>
  (
    callTables(pipeline, params as Readonly<Record<string, unknown>>) as Record<string, { row?: z.ZodObject }>
  )[table]?.row;

/** real and double hold NaN and the infinities too. */
const float = z.union([z.number(), z.nan(), z.literal(Infinity), z.literal(-Infinity)]);

/** varchar counts characters, Zod's max counts UTF-16 code units. */
const characters = (most: number): z.ZodType =>
  z.string().refine((text) => [...text].length <= most, `at most ${most} characters`);

/** What a type says of its values, as a schema. */
const valueSchema = (shape: ValueShape): z.ZodType => {
  if (shape.kind === 'number') return z.int().min(shape.least).max(shape.most);
  if (shape.kind === 'bigint') return z.bigint().min(shape.least).max(shape.most);
  if (shape.kind !== 'string') return plainSchemas[shape.kind];
  return shape.charactersMax === undefined ? z.string() : characters(shape.charactersMax);
};

const plainSchemas = { float, boolean: z.boolean(), uuid: z.guid(), any: z.unknown() };

/** The column's rules over JavaScript values, which they read as texts. */
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
  // Declared by the user with our .zod(), so it is a Zod schema; the stages know only its safeParse.
  if (column.schema !== undefined) schema = schema.pipe(column.schema as unknown as z.ZodType);
  return column.nullable ? schema.nullable() : schema;
};
