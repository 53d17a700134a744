// How a declaration names a field of a file, as a schema.

import { z } from 'zod';
import { mustBe } from './problems.ts';

const groupsOf = (pattern: RegExp): number => new RegExp(`${pattern.source}|`).exec('')!.length - 1;

const fieldMust = mustBe(
  "a header name, a position from 1, { from: ['name', 'other name'] }, or path(/pattern/)",
);
export const fieldsMust = mustBe(
  "a header name, a position from 1, { from: ['name', 'other name'] }, path(/pattern/), or a list of them to glue together",
);

const headerName = z.string(fieldMust).min(1, fieldMust);

const patternMust = mustBe('a pattern with one group at most: path(/(\\d{4})/)');
const pattern = z.instanceof(RegExp, patternMust).refine((found) => groupsOf(found) <= 1, patternMust);

/** One field. */
export const fieldSchema = z.union(
  [
    headerName,
    z.int(fieldMust).min(1, fieldMust),
    z.strictObject({ from: z.array(headerName).min(1) }),
    z.strictObject({ path: pattern }),
  ],
  fieldMust,
);
