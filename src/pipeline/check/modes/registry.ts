// All modes that a table can declare in `publish`.

import { z } from 'zod';
import { publishModes, type PublishSpec } from '../../../core/declaration.ts';
import { mustBe, mustBeOneOf } from '../../problems.ts';
import { append } from './append.ts';
import type { DeclaredMode } from './contract.ts';
import { history } from './history.ts';
import { merge } from './merge.ts';
import { replace } from './replace.ts';

const modes = { replace, append, merge, history };

const choices =
  "'replace', 'append', 'merge', 'history', or an object such as { mode: 'append', changed, gone }";

export const publishSchema = z.preprocess(
  (written = 'replace') => (typeof written === 'string' ? { mode: written } : written),
  z.discriminatedUnion('mode', [replace.schema, append.schema, merge.schema, history.schema], {
    error: ({ input }) =>
      typeof input === 'object' && input !== null && 'mode' in input
        ? mustBeOneOf(publishModes).error({ input: input.mode })
        : mustBe(choices).error({ input }),
  }),
);

export const declaredMode = <Spec extends PublishSpec>(publish: Spec): DeclaredMode<Spec> =>
  modes[typeof publish === 'string' ? 'replace' : publish.mode] as unknown as DeclaredMode<Spec>;
