// Writes the declaration of a column that a table already has.

import { objectText, literal } from '../init/pipeline-text.ts';
import type { DeclaredType } from '../init/contract.ts';
import type { TargetColumn } from './target.ts';

type Options = Readonly<Record<string, unknown>>;

/** Types with a builder of the same meaning. The rest is `column.of`, whose text the server reads. */
const builders: Readonly<Record<string, string>> = {
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
};

/** Returns the builder and the options that the type itself needs; undefined: `column.of`. */
const builderOf = (type: string): { readonly builder: string; readonly options: Options } | undefined => {
  const builder = builders[type];
  if (builder !== undefined) return { builder, options: {} };
  const [, length] = /^character varying\((\d+)\)$/.exec(type) ?? [];
  if (length !== undefined) return { builder: 'varchar', options: { length: Number(length) } };
  const [, precision, scale] = /^numeric\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (precision !== undefined && Number(scale) <= Number(precision))
    return { builder: 'numeric', options: { precision: Number(precision), scale: Number(scale) } };
  return undefined;
};

/** How the texts of a column are written, as `--type` and `--zone` say. */
export interface Spelling {
  readonly declared: DeclaredType | undefined;
  readonly zone: string | undefined;
}

/** True if the column has this type of the library, so that the options of `--type` are for it. */
export const hasType = ({ type }: TargetColumn, name: string): boolean => builderOf(type)?.builder === name;

/** Returns `column.integer('Id').nullable()`. `field`: text of the field's name or position. */
export const columnText = (column: TargetColumn, field: string, { declared, zone }: Spelling): string => {
  const found = builderOf(column.type);
  const isNullable = column.isNullable ? '.nullable()' : '';
  if (found === undefined) {
    const labels = column.labels.length > 0 ? `.oneOf([${column.labels.map(literal).join(', ')}])` : '';
    return `column.of(${literal(column.type)}, ${field})${labels}${isNullable}`;
  }
  const { builder, options } = found;
  const all = {
    ...declared?.options,
    ...options,
    ...(builder === 'timestamptz' && zone !== undefined ? { zone } : {}),
  };
  const second = Object.keys(all).length === 0 ? '' : `, ${objectText(all)}`;
  return `column.${builder}(${field}${second})${isNullable}`;
};
