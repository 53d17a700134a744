// All kinds of data tests, by name. A new kind is a file beside this one and a line here.

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

type Builders = { readonly [Kind in keyof typeof kinds]: (typeof kinds)[Kind]['define'] };

/** Declares data tests, one function per kind: `tests: [expect.unique('id')]`. */
export const expect = Object.freeze(
  Object.fromEntries(Object.entries(kinds).map(([name, { define }]) => [name, define])),
) as unknown as Builders;
