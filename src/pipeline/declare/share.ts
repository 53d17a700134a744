// Schemas of limits: a number of records, such as 10, or a share of all records, such as '0.1%'.

import { z } from 'zod';
import type { RejectLimit } from '../../core/declaration.ts';
import { mustBe, wholeNumber } from '../problems.ts';

export const percentOf = (share: string): number => Number(share.slice(0, -1));

export const shareSchema = (what: string) =>
  z
    .string(mustBe(what))
    .regex(/^\d+(\.\d+)?%$/, mustBe(what))
    .refine((share) => percentOf(share) <= 100, mustBe(what));

export const limitSchema = (of: 'records' | 'rows') => {
  const what = `a number of ${of}, or a share such as '0.1%'`;
  return z.union(
    [
      wholeNumber(what, 0).transform((records): RejectLimit => ({ kind: 'count', records })),
      shareSchema(what).transform((share): RejectLimit => ({ kind: 'percent', percent: percentOf(share) })),
    ],
    mustBe(what),
  );
};
