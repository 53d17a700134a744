// The column types by name: the one list that the pipeline, the decoder and the DDL look up.

import type { ColumnOptions, ColumnTypeName } from '../../declaration.ts';
import { booleanType } from './boolean.ts';
import type { ColumnType, Reader } from './contract.ts';
import { dateType, timestampType, timestamptzType, timeType } from './datetime.ts';
import { doubleType, realType } from './floats.ts';
import { bigintType, integerColumnType, smallintType } from './integers.ts';
import { jsonbType, jsonType } from './json.ts';
import { numericType } from './numeric.ts';
import { ofType } from './of.ts';
import { textType, varcharType } from './text.ts';
import { uuidType } from './uuid.ts';

export const columnTypes: Readonly<Record<ColumnTypeName, ColumnType>> = Object.freeze({
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
  of: ofType,
});

/**
 * The reader of text that does not come from the file: what `fromValue` gives for `.default(v)` and for
 * values that a Zod schema returned. It checks length, range, scale and calendar like `type.reader(options)`,
 * but reads PostgreSQL's own spelling, whatever pattern, decimal comma or words the file uses.
 */
export const canonicalReader = (type: ColumnType, options: ColumnOptions): Reader =>
  type.reader({
    ...options,
    format: undefined,
    decimal: undefined,
    thousands: undefined,
    true: undefined,
    false: undefined,
  });
