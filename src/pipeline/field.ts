// The schema of a declared field: a header text, a position, alternatives or a part of the path.

import { z } from 'zod';
import { mustBe, oneOrMore, text, wholeNumber } from './problems.ts';

const groupsOf = (pattern: RegExp): number => new RegExp(`${pattern.source}|`).exec('')!.length - 1;

const nameOrPosition = "a header name, a position from 1, { from: ['name', 'other name'] }";
const oneField = `${nameOrPosition}, or path(/pattern/)`;

const patternMust = mustBe('a pattern with one group at most: path(/(\\d{4})/)');
const pattern = z.instanceof(RegExp, patternMust).refine((found) => groupsOf(found) <= 1, patternMust);

export const fieldSchema = z.union(
  [
    text(oneField),
    wholeNumber(oneField, 1),
    z.strictObject({ from: z.array(text(oneField)).min(1) }),
    z.strictObject({ path: pattern }),
  ],
  mustBe(oneField),
);

export const fieldsSchema = oneOrMore(
  fieldSchema,
  `${nameOrPosition}, path(/pattern/), or a list of them to join`,
);
