// Which columns of a table are compared, and how.

import type { ColumnSpec, SourceTableSpec } from '../../core/declaration/declaration.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { valuePrinter, type PrintValue } from '../print-value.ts';
import type { NotVerified } from './report.ts';
import type { Comparing } from './tally.ts';

/** A column of production that values of a record make. */
export interface ComparedColumn {
  readonly spec: ColumnSpec;
  readonly comparing: Comparing;
  /** The value as the server prints it. */
  readonly print: PrintValue;
}

export interface ComparedColumns {
  readonly columns: readonly ComparedColumn[];
  /** Of production, that has the id of each row's file. */
  readonly fileColumn: string | undefined;
  readonly notCompared: readonly NotVerified[];
}

const numbers = new Set(['smallint', 'integer', 'bigint', 'numeric']);

/** Types whose values the server writes otherwise than the file. */
const rewritten: Readonly<Record<string, string>> = {
  jsonb: 'the server writes jsonb differently from the file: only its nulls are compared',
  of: 'the server reads values of its type: only its nulls are compared',
};

const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** The usual number is written as it is printed. */
const numericPrinter = (column: ColumnSpec): PrintValue => {
  const print = valuePrinter(column);
  const { precision, scale = 0 } = column.options as { precision?: number; scale?: number };
  return (text) => {
    if (!plainNumber.test(text) || text.startsWith('-0')) return print(text);
    const point = text.indexOf('.');
    const digits = point === -1 ? 0 : text.length - point - 1;
    return precision === undefined || digits === scale ? text : print(text);
  };
};

/** Printed values of a column that are remembered. */
const printedMax = 8_192;

/** Columns have the same values again and again, and some are dear to print. */
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

/** Types that are printed as the file writes them; no text of them is kept. */
const asTheyAre = new Set(['text', 'varchar', 'json', 'jsonb', 'of']);

const printerOf = (column: ColumnSpec): PrintValue => {
  if (column.type === 'numeric') return remembered(numericPrinter(column));
  const print = valuePrinter(column);
  return asTheyAre.has(column.type) ? print : remembered(print);
};

const reasonOf = (column: ColumnSpec): string | undefined =>
  column.lineage === undefined ? rewritten[column.type] : 'the run has made it, not the file';

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
