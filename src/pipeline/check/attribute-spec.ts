// Checks the declared attributes of a table: comments, statistics, storage parameters, tablespace, distribution.

import { z } from 'zod';
import type { AttributesSpec } from '../../core/shape.ts';
import type { Known } from './declared-values.ts';
import { mustBe, text, wholeNumber, type Problems } from '../problems.ts';
import { distributeSchema } from './distribution-spec.ts';
import { checkColumnNames } from './table-checks.ts';

const parameterName =
  'is not the name of a storage parameter, such as autovacuum_enabled or toast.autovacuum_enabled';

/** The bounds are PostgreSQL's. The server checks storage parameters that have no bounds here. */
export const attributeShape = {
  columnComments: z
    .record(z.string(), z.string(mustBe('a text')), mustBe('an object of texts by column'))
    .optional(),
  statistics: z
    .record(
      z.string(),
      wholeNumber('a whole number from 0 to 10000', 0, 10_000),
      mustBe('an object of statistics targets by column'),
    )
    .optional(),
  storage: z
    .looseObject(
      { fillfactor: wholeNumber('a whole number from 10 to 100', 10, 100).optional() },
      mustBe('an object of storage parameters, such as { fillfactor: 80 }'),
    )
    .pipe(
      z.record(
        z.string().regex(/^(toast\.)?[a-z][a-z_]*$/),
        z
          .union([z.number(), z.string(), z.boolean()], mustBe('a number, a text, true or false'))
          .transform(String),
        { error: ({ code }) => (code === 'invalid_key' ? parameterName : undefined) },
      ),
    )
    .optional(),
  tablespace: text('the name of a tablespace').optional(),
  distribute: distributeSchema.optional(),
};

type Written = { readonly [Key in keyof typeof attributeShape]?: z.output<(typeof attributeShape)[Key]> };

export const readAttributes = (
  { columnComments, statistics, storage, tablespace, distribute }: Written,
  serverColumns: AttributesSpec['serverColumns'],
  known: Known,
  problems: Problems,
): { readonly attributes?: AttributesSpec } => {
  for (const [key, columns] of Object.entries({ columnComments, statistics }))
    checkColumnNames(Object.keys(columns ?? {}), known, problems.at(key));
  const written = { columnComments, statistics, storage, tablespace, distribute, serverColumns };
  // Without attributes, there is no key: even an undefined key would change the table's hash.
  const attributes = Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined));
  return Object.keys(attributes).length === 0 ? {} : { attributes };
};
