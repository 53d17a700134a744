// Writes the declaration of a column by the type that a table has.

import type { ColumnOptions } from '../../core/declaration.ts';
import { literal, objectText } from '../../core/source-text.ts';
import { columnTypes, type ColumnTypeName } from './registry.ts';

/** Types with a builder of the same meaning. The rest is `column.of`, whose text the server reads. */
const builders: Readonly<Record<string, ColumnTypeName>> = {
  text: 'text',
  smallint: 'smallint',
  integer: 'integer',
  bigint: 'bigint',
  real: 'real',
  'double precision': 'double',
  numeric: 'numeric',
  boolean: 'boolean',
  date: 'date',
  'time without time zone': 'time',
  'timestamp without time zone': 'timestamp',
  'timestamp with time zone': 'timestamptz',
  uuid: 'uuid',
  json: 'json',
  jsonb: 'jsonb',
  bytea: 'bytea',
};

interface Built {
  readonly builder: ColumnTypeName;
  readonly options: ColumnOptions;
}

/** Returns the builder and the options that the type itself needs; undefined: `column.of`. */
const builderOf = (type: string): Built | undefined => {
  const builder = builders[type];
  if (builder !== undefined) return { builder, options: {} };
  const [, length] = /^character varying\((\d+)\)$/.exec(type) ?? [];
  if (length !== undefined) return { builder: 'varchar', options: { length: Number(length) } };
  const [, precision, scale] = /^numeric\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (precision !== undefined && Number(scale) <= Number(precision))
    return { builder: 'numeric', options: { precision: Number(precision), scale: Number(scale) } };
  return undefined;
};

/** True if the builder makes columns of this type. */
export const isBuiltBy = (type: string, builder: string): boolean => builderOf(type)?.builder === builder;

const sizes = new Set(['length', 'precision', 'scale']);

interface Written {
  /** As PostgreSQL writes it. */
  readonly type: string;
  /** Text of the field's name or position. */
  readonly field: string;
  /** Options of another declaration; those of its size, and unknown ones, are left out. */
  readonly options?: ColumnOptions | undefined;
  /** The only values, of an enum. */
  readonly labels?: readonly string[];
  readonly isNullable: boolean;
}

/** Returns `column.integer('Id').nullable()`. */
export const declarationText = (written: Written): string => {
  const { type, field, options = {}, labels = [], isNullable } = written;
  const nullable = isNullable ? '.nullable()' : '';
  const found = builderOf(type);
  if (found === undefined) {
    const values = labels.length > 0 ? `.oneOf([${labels.map(literal).join(', ')}])` : '';
    return `column.of(${literal(type)}, ${field})${values}${nullable}`;
  }
  const known = columnTypes[found.builder].options;
  const kept = Object.entries(options).filter(([name]) => name in known && !sizes.has(name));
  const all = { ...Object.fromEntries(kept), ...found.options };
  const second = Object.keys(all).length === 0 ? '' : `, ${objectText(all)}`;
  return `column.${found.builder}(${field}${second})${nullable}`;
};
