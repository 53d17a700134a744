// Converts declared values (defaults, bounds) to the texts that a load compares and stores.

import type { ColumnSpec } from '../../core/declaration.ts';
import { isRefusal } from '../../format/types/contract.ts';
import { canonicalReader, typeOf } from '../../format/types/registry.ts';
import { show, type Problems } from '../problems.ts';

export type TypedColumn = Pick<ColumnSpec, 'type' | 'options'>;

/** Names of a table's columns; undefined if SQL makes the columns and no `row` declares them. */
export type Known = readonly string[] | undefined;

export const timeTypes: readonly string[] = ['timestamptz', 'timestamp', 'date'];

/** Returns the text that the column stores. If there is none, adds a problem that names `what`. */
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
