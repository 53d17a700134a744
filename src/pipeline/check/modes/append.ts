// The declaration of the mode 'append'.

import { z } from 'zod';
import { changedChoices, goneChoices, type AppendSpec } from '../../../core/declaration.ts';
import { choice, strict } from '../../problems.ts';
import type { DeclaredMode } from './contract.ts';
import { checkFileColumn } from './file-column.ts';

export const append = {
  schema: strict({
    mode: z.literal('append'),
    changed: choice(changedChoices).default('error'),
    gone: choice(goneChoices).default('keep'),
  }),
  check: (table, _known, _columns, problems) => checkFileColumn(table, problems),
  complete: (table) => table,
} satisfies DeclaredMode<AppendSpec>;
