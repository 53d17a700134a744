// Declared columns, and their values (defaults, bounds) as the texts that loading uses.

import type { ColumnSpec } from '../../core/declaration/declaration.ts';
import { isRefusal } from '../../format/types/contract.ts';
import { canonicalReader, typeOf } from '../../format/types/registry.ts';
import { show, type Problems } from '../problems.ts';

/** The type of a column, with the options that it was declared with. */
export type TypedColumn = Pick<ColumnSpec, 'type' | 'options'>;

/** The names of a table's columns; undefined where SQL makes them and nothing declares them. */
export type Known = readonly string[] | undefined;

/** Types whose values are times. */
export const timeTypes: readonly string[] = ['timestamptz', 'timestamp', 'date'];

/** The text of a value of the column, or undefined and a problem; `what` names the value. */
export const valueText = (
  what: string,
  column: TypedColumn,
  value: unknown,
  problems: Problems,
): string | undefined => {
  const type = typeOf(column);
  const asText = column.type === 'of' ? ', as a text' : '';
  const must = `${what} must be a value of type ${type.sql(column.options)}${asText}, not ${show(value)}`;
  const written = type.fromValue(value);
  if (written === undefined) return problems.add(must);
  const read = canonicalReader(type, column.options)(written);
  return isRefusal(read) ? problems.add(`${must}: ${read.reason}`) : read;
};
