// Lists which type loses nothing in which other: a column of the first may become one of the second,
// and rows with the first may be written into a column of the second. Proved by
// test/modes/narrower.test.ts, "the table of types".
//
// Types that depend on settings, or lose anything, are left out: timestamp in timestamptz (time
// zone), json in jsonb (order of keys).

import { quoteName } from '../../db/sql.ts';
import type { TakenType } from '../table/tables.ts';

/** Example: `numeric(10,2)` has the base numeric and the sizes 10 and 2. */
interface WrittenType {
  readonly base: string;
  readonly sizes: readonly number[];
}

const written = (type: string): WrittenType => {
  if (type === 'text') return written('character varying');
  const [, name = type, sizes, zone = ''] = /^([a-z ]+)\(([\d,-]+)\)(.*)$/.exec(type) ?? [];
  return { base: name + zone, sizes: sizes === undefined ? [] : sizes.split(',').map(Number) };
};

const digits: Readonly<Record<string, number>> = { smallint: 5, integer: 10, bigint: 19 };

/** Types that hold every value of the key's type exactly. */
const wider: Readonly<Record<string, readonly string[]>> = {
  smallint: ['integer', 'bigint', 'real', 'double precision'],
  integer: ['bigint', 'double precision'],
  real: ['double precision'],
  date: ['timestamp without time zone'],
};

const growing = new Set([
  'character varying',
  'bit varying',
  'time without time zone',
  'time with time zone',
  'timestamp without time zone',
  'timestamp with time zone',
]);

/** Digits before and after the decimal point; Infinity if unlimited. */
const placesOf = ({ sizes: [precision, scale = 0] }: WrittenType): readonly [number, number] =>
  precision === undefined ? [Infinity, Infinity] : [precision - scale, scale];

const numericHolds = (to: WrittenType, whole: number, fraction: number): boolean => {
  const [most, places] = placesOf(to);
  return most >= whole && places >= fraction;
};

/** Returns undefined if values may be lost. PostgreSQL, "ALTER TABLE". */
export const widens = (from: string, to: string): { readonly rewrites: boolean } | undefined => {
  const [was, is] = [written(from), written(to)];
  const { base } = was;
  if (base === 'numeric' && is.base === 'numeric') {
    const [whole, fraction] = placesOf(was);
    if (!numericHolds(is, whole, fraction)) return undefined;
    return { rewrites: is.sizes.length > 0 && fraction !== placesOf(is)[1] };
  }
  if (base === is.base && growing.has(base))
    return (is.sizes[0] ?? Infinity) >= (was.sizes[0] ?? Infinity) ? { rewrites: false } : undefined;
  const whole = digits[base];
  const isWider =
    whole !== undefined && is.base === 'numeric'
      ? numericHolds(is, whole, 0)
      : wider[base]?.includes(is.base) === true;
  return isWider ? { rewrites: true } : undefined;
};

/**
 * True if rows with `from` may be written into a column of `to`. The blanks at the end of a char(n)
 * mean nothing; but a column is not retyped from it, because readers may count on the blanks.
 */
export const holds = (from: string, to: string): boolean => {
  if (widens(from, to) !== undefined) return true;
  const [was, is] = [written(from), written(to)];
  return (
    was.base === 'character' &&
    ['character', 'character varying'].includes(is.base) &&
    (is.sizes[0] ?? Infinity) >= was.sizes[0]!
  );
};

/** SQL: the column's value as `to`. The server's cast of a real adds digits that nobody wrote: 0.1. */
export const valueAs = ({ name, from, to }: TakenType): string =>
  `${quoteName(name)}${from === 'real' && to === 'double precision' ? '::text' : ''}::${to}`;
