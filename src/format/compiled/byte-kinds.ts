// Which columns the row routine reads from bytes, and how: the usual spellings of the usual types.

import type { ColumnSpec } from '../../declaration.ts';
import { kind } from './row-memory.ts';

/** How the routine reads a column. */
export interface ByteKind {
  readonly kind: number;
  /** The column's a, b, c … */
  readonly settings?: readonly number[];
  /** Least and most. */
  readonly range?: readonly [bigint, bigint];
  /** Place and byte of each literal of a pattern. */
  readonly literals?: readonly (readonly [number, number])[];
}

const other: ByteKind = { kind: kind.other };

const integerOf = (bytes: number): ByteKind => {
  const most = 2n ** BigInt(8 * bytes - 1);
  return { kind: kind.integer, settings: [bytes], range: [-most, most - 1n] };
};

const parts = ['YYYY', 'MM', 'DD', 'HH', 'mm', 'ss'];

/** A pattern whose every part has a fixed place. */
const momentOf = (pattern: string, momentKind: number): ByteKind => {
  if (!/^(?:YYYY|MM|DD|HH|mm|ss|[^\p{L}\d])*$/u.test(pattern) || /[^\x20-\x7e]/.test(pattern)) return other;
  const places = new Map(
    [...pattern.matchAll(/YYYY|MM|DD|HH|mm|ss/g)].map(({ 0: part, index }) => [part, index] as const),
  );
  const literals = [...pattern].flatMap((character, at) =>
    /[^\p{L}]/u.test(character) ? [[at, character.charCodeAt(0)] as const] : [],
  );
  return {
    kind: momentKind,
    settings: [pattern.length, ...parts.map((part) => places.get(part) ?? -1)],
    literals,
  };
};

const numericOf = ({ precision, scale = 0 }: ColumnSpec['options']): ByteKind =>
  precision !== undefined && precision <= 15 && scale >= 0 && scale <= precision
    ? { kind: kind.numeric, settings: [scale, precision - scale] }
    : other;

const numberOf = (column: ColumnSpec): ByteKind => {
  const { type, options } = column;
  if (options.thousands !== undefined || (options.decimal ?? '.') !== '.') return other;
  if (type === 'smallint') return integerOf(2);
  if (type === 'integer') return integerOf(4);
  if (type === 'bigint') return integerOf(8);
  if (type === 'real') return { kind: kind.real };
  if (type === 'double') return { kind: kind.double };
  return type === 'numeric' ? numericOf(options) : other;
};

/** A function of the pipeline has a say in the column's values. */
export const hasFunction = ({ map, checks, schema }: ColumnSpec): boolean =>
  map !== undefined || checks.length > 0 || schema !== undefined;

/** The kind of a column. What is no longer than its bytes allow is surely no longer than its characters. */
export const byteKindOf = (column: ColumnSpec): ByteKind => {
  const { type, options } = column;
  if (hasFunction(column)) return other;
  if (type === 'text') return { kind: kind.text, settings: [0x7fffffff] };
  if (type === 'varchar') return { kind: kind.text, settings: [options.length!] };
  if (type === 'date') return momentOf(options.format ?? 'YYYY-MM-DD', kind.date);
  if (type === 'timestamp' && options.format !== undefined) return momentOf(options.format, kind.timestamp);
  return numberOf(column);
};
