// The declaration of the mode 'replace', also with only: 'touched', which replaces only partitions.

import { z } from 'zod';
import type { TouchedSpec } from '../../../core/declaration.ts';
import { mustBe, strict } from '../../problems.ts';
import type { DeclaredMode } from './contract.ts';
import { checkFileColumn } from './file-column.ts';

export const replace = {
  schema: strict({
    mode: z.literal('replace'),
    only: z.literal('touched', mustBe("'touched'")).optional(),
  }).transform(({ mode, only }) =>
    only === undefined ? mode : ({ mode, only, changed: 'reload', gone: 'keep' } as const),
  ),
  check: (table, _known, _columns, problems) => {
    if (table.publish === 'replace') return;
    if (table.partitionBy === undefined || table.partitionBy.by === 'hash')
      problems.add("only: 'touched' replaces partitions, and needs partitionBy: range(…) or list(…)");
    checkFileColumn(table, problems);
  },
  complete: (table) => table,
} satisfies DeclaredMode<'replace' | TouchedSpec>;
