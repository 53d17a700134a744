// rowSchema(): the Zod schema of a table's row, made from the same columns as everything else.

import { z } from 'zod';
import type { ColumnSpec } from '../../declaration.ts';
import { bindPipeline } from '../bind.ts';
import { callTables, type Pipeline, type Row, type TableName } from './define-pipeline.ts';
import { EtlError } from '../../errors.ts';
import { didYouMean } from '../check/suggestion.ts';

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
      : z.object(Object.fromEntries(spec.columns.map((column) => [column.name, columnSchema(column)])));
  return schema as unknown as RowSchema<Row<P, Name>>;
};

/** As it is written: a bound table has it as data only. */
const declaredRow = (pipeline: Pipeline, params: object, table: string): z.ZodObject | undefined =>
  (
    callTables(pipeline, params as Readonly<Record<string, unknown>>) as Record<string, { row?: z.ZodObject }>
  )[table]?.row;

/** real and double hold NaN and the infinities too. */
const float = z.union([z.number(), z.nan(), z.literal(Infinity), z.literal(-Infinity)]);

const valueSchemas: Readonly<Record<ColumnSpec['type'], (column: ColumnSpec) => z.ZodType>> = {
  text: () => z.string(),
  varchar: ({ options }) => characters(options.length),
  smallint: () => z.int().min(-32_768).max(32_767),
  integer: () => z.int32(),
  bigint: () => z.int64(),
  real: () => float,
  double: () => float,
  numeric: () => z.string(),
  boolean: () => z.boolean(),
  date: () => z.string(),
  time: () => z.string(),
  timestamp: () => z.string(),
  timestamptz: () => z.string(),
  uuid: () => z.guid(),
  json: () => z.unknown(),
  jsonb: () => z.unknown(),
  of: () => z.string(),
};

/** varchar counts characters, Zod's max counts UTF-16 code units. */
const characters = (length = Infinity): z.ZodType =>
  z.string().refine((text) => [...text].length <= length, `at most ${length} characters`);

const columnSchema = (column: ColumnSpec): z.ZodType => {
  let schema = valueSchemas[column.type](column);
  for (const { test, message } of column.checks)
    schema = schema.refine(test as (value: unknown) => boolean, message);
  // Declared by the user with our .zod(), so it is a Zod schema; the stages know only its safeParse.
  if (column.schema !== undefined) schema = schema.pipe(column.schema as unknown as z.ZodType);
  return column.nullable ? schema.nullable() : schema;
};
