// All kinds of data tests, by name. A new kind is a file beside this one, and a line in `kinds` and in
// `Expectations`.

import { accepted } from './accepted.ts';
import { between } from './between.ts';
import type { TestKind } from './contract.ts';
import { fresh } from './fresh.ts';
import { matches } from './matches.ts';
import { notNull } from './not-null.ts';
import { references } from './references.ts';
import { rows } from './rows.ts';
import { sql } from './sql.ts';
import { unique } from './unique.ts';

const kinds = { unique, notNull, accepted, between, matches, references, rows, fresh, sql };

export const testKinds: Readonly<Record<string, TestKind>> = kinds;

type Define<Kind extends keyof typeof kinds> = (typeof kinds)[Kind]['define'];

/** One function for each kind of data test. A null passes all tests of values except notNull. */
interface Expectations {
  /** No other row has the same value or values; nulls are never equal: `expect.unique('id')`. */
  readonly unique: Define<'unique'>;
  /** No row has a null: `expect.notNull('email', { max: '1%' })`. */
  readonly notNull: Define<'notNull'>;
  /** Every value is one of these: `expect.accepted('state', ['open', 'closed'])`. */
  readonly accepted: Define<'accepted'>;
  /**
   * Every value is in bounds, which it may equal; null is no bound: `expect.between('price', 0,
   * 1e6)`.
   */
  readonly between: Define<'between'>;
  /**
   * The regular expression finds something in every value, as JavaScript does:
   * `expect.matches('code', /^\d{5}$/)`. Patterns that the server cannot search for are refused.
   */
  readonly matches: Define<'matches'>;
  /**
   * Every value is in a column of another table: `expect.references('store', 'store.code')`, or
   * `'schema.table.column'` for a table outside of the pipeline.
   */
  readonly references: Define<'references'>;
  /**
   * The number of rows is within bounds, or close to the number before the run:
   * `expect.rows({ min: 1000, change: '20%' })`.
   */
  readonly rows: Define<'rows'>;
  /**
   * The newest value of a date or timestamp is not older: `expect.fresh('observed_at', '2 days')`.
   * A table without a value fails.
   */
  readonly fresh: Define<'fresh'>;
  /**
   * The SELECT in the file, whose path is relative to the pipeline file, returns no row:
   * `expect.sql('no_future.sql')`.
   */
  readonly sql: Define<'sql'>;
}

/** Declares data tests, one function per kind: `tests: [expect.unique('id')]`. */
export const expect = Object.freeze(
  Object.fromEntries(Object.entries(kinds).map(([name, { define }]) => [name, define])),
) as unknown as Expectations;
