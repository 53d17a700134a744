// How a declaration names a field of a file, as a schema.

import { z } from 'zod';
import { mustBe } from './problems.ts';

export const fieldMust = mustBe("a header name, a position from 1, or { from: ['name', 'other name'] }");
export const fieldsMust = mustBe(
  "a header name, a position from 1, { from: ['name', 'other name'] }, or a list of them to glue together",
);

const headerName = z.string(fieldMust).min(1, fieldMust);

/** One field. */
export const fieldSchema = z.union(
  [headerName, z.int(fieldMust).min(1, fieldMust), z.strictObject({ from: z.array(headerName).min(1) })],
  fieldMust,
);
