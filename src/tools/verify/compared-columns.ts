// Decides which columns of a table are compared, and how.

import type { ColumnSpec, SourceTableSpec } from '../../core/declaration.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { valuePrinter, type PrintValue } from '../print-value.ts';
import type { NotVerified } from './report.ts';
import type { Comparing } from './row-sums.ts';

export interface ComparedColumn {
  readonly spec: ColumnSpec;
  readonly comparing: Comparing;
  readonly print: PrintValue;
}

export interface ComparedColumns {
  readonly columns: readonly ComparedColumn[];
  readonly fileColumn: string | undefined;
  readonly notCompared: readonly NotVerified[];
}

const numbers = new Set(['smallint', 'integer', 'bigint', 'numeric']);

const rewritten: Readonly<Record<string, string>> = {
  jsonb: 'the server writes jsonb differently from the file: only its nulls are compared',
  of: 'the server reads values of its type: only its nulls are compared',
};

const printedMax = 8_192;

/** Adds a cache to a printer: values of a column often repeat, and some are slow to print. */
const remembered = (print: PrintValue): PrintValue => {
  const printed = new Map<string, string>();
  return (text) => {
    const known = printed.get(text);
    if (known !== undefined) return known;
    const value = print(text);
    if (printed.size >= printedMax) printed.clear();
    printed.set(text, value);
    return value;
  };
};

/** Types that are printed unchanged, so that a cache would only cost memory. */
const asTheyAre = new Set(['text', 'varchar', 'json', 'jsonb', 'bytea', 'of']);

const printerOf = (column: ColumnSpec): PrintValue => {
  const print = valuePrinter(column);
  return asTheyAre.has(column.type) ? print : remembered(print);
};

const reasonOf = (column: ColumnSpec): string | undefined =>
  column.lineage === undefined ? rewritten[column.type] : 'its values come from the run, not from the files';

export const comparedColumns = (table: SourceTableSpec): ComparedColumns => {
  const kept = publishedColumns(table);
  const notCompared = kept.flatMap((column): readonly NotVerified[] => {
    const reason = reasonOf(column);
    return reason === undefined || column.lineage === '_file'
      ? []
      : [{ file: null, column: column.name, reason }];
  });
  const columns = kept
    .filter(({ lineage }) => lineage === undefined)
    .map((spec): ComparedColumn => {
      const comparing =
        rewritten[spec.type] !== undefined ? 'nulls' : numbers.has(spec.type) ? 'numbers' : 'values';
      return { spec, comparing, print: printerOf(spec) };
    });
  return { columns, fileColumn: kept.find(({ lineage }) => lineage === '_file')?.name, notCompared };
};

/** Decimals of the declared type; undefined: as many as the value has, or not a decimal number. */
const scaleOf = ({ type, options }: ColumnSpec): number | undefined => {
  if (type !== 'numeric') return numbers.has(type) ? 0 : undefined;
  return options['precision'] === undefined ? undefined : Number(options['scale'] ?? 0);
};

/**
 * SQL: a column's value as text of the declared type. `type`: production's, which may be wider. A
 * value that the declared type cannot hold is written as it is.
 */
export const valueText = (column: string, spec: ColumnSpec, type: string): string => {
  const own = (value: string): string =>
    `case when ${value} = ${column} then ${value}::text else ${column}::text end`;
  const scale = scaleOf(spec);
  if (scale !== undefined && type.startsWith('numeric') && !type.endsWith(`,${scale})`))
    return own(`round(${column}, ${scale})`);
  if (spec.type === 'date' && type !== 'date' && type.startsWith('timestamp')) return own(`${column}::date`);
  return `${column}::text`;
};
