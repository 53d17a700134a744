// The list of column types, from which builders, decoders, DDL, row schemas and docs derive.

import type { ColumnOptions } from '../../core/declaration.ts';
import { booleanType } from './boolean.ts';
import { byteaType } from './bytea.ts';
import type { ColumnType, OptionShape, Reader } from './contract.ts';
import { dateType, timestampType, timestamptzType, timeType } from './datetime.ts';
import { doubleType, realType } from './floats.ts';
import { bigintType, integerColumnType, smallintType } from './integers.ts';
import { jsonbType, jsonType } from './json.ts';
import { numericType } from './numeric.ts';
import { ofType } from './of.ts';
import { textType, varcharType } from './text.ts';
import { uuidType } from './uuid.ts';

export const columnTypes = Object.freeze({
  text: textType,
  varchar: varcharType,
  smallint: smallintType,
  integer: integerColumnType,
  bigint: bigintType,
  real: realType,
  double: doubleType,
  numeric: numericType,
  boolean: booleanType,
  date: dateType,
  time: timeType,
  timestamp: timestampType,
  timestamptz: timestamptzType,
  uuid: uuidType,
  json: jsonType,
  jsonb: jsonbType,
  bytea: byteaType,
  of: ofType,
});

export type ColumnTypeName = keyof typeof columnTypes;

export const isTypeName = (name: string): name is ColumnTypeName => Object.hasOwn(columnTypes, name);

export const typeOf = ({ type }: { readonly type: string }): ColumnType =>
  columnTypes[type as ColumnTypeName];

/**
 * Reads `.default(v)` and a Zod schema's output: checks like `type.reader(options)`, but expects
 * PostgreSQL's spelling instead of the file's.
 */
export const canonicalReader = (type: ColumnType, options: ColumnOptions): Reader => {
  const shapes = type.options as Readonly<Record<string, OptionShape>>;
  const kept = Object.entries(options).filter(([name]) => shapes[name]?.isSpelling !== true);
  return type.reader(Object.fromEntries(kept));
};
