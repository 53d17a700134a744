// Hooks of a pipeline: its author's code before and after a load, as written and as checked.

import { z } from 'zod';
import type { FailedHook, Hook, HooksSpec, SqlFile } from '../../core/declaration/hook.ts';
import { mustBe, strict, wholeNumber } from '../problems.ts';
import { sqlFileSchema } from './sql-file.ts';

/** What is done before a load, after it, with its publication and after that: a function, or a SQL file. */
export interface Hooks {
  /** Each time the run begins to load, also when it is continued. An error ends the run; nothing is published. */
  readonly before?: Hook;
  /** When everything is loaded, before tables are built. An error ends the run; nothing is published. */
  readonly after?: Hook;
  /** In the publishing transaction, exactly once, where names already mean the new tables. Readers wait for it. */
  readonly publishing?: SqlFile;
  /** When the run is published, at least once. An error does not take that back. */
  readonly published?: Hook;
  /** When the run has failed: once, by the process that it failed in. An error is reported beside that of the run. */
  readonly failed?: FailedHook;
  /** How long each may take, in milliseconds. Default: ten minutes. */
  readonly timeoutMs?: number;
}

const timeoutMsDefault = 600_000;

/** Timers cannot wait longer. */
const timeoutMsMax = 2 ** 31 - 1;

const hookSchema = <Called extends Hook | FailedHook>() => {
  const must = mustBe("a function, or sqlFile('path.sql')");
  const called = z.custom<Exclude<Called, SqlFile>>((value) => typeof value === 'function', must);
  return z.union([sqlFileSchema, called], must);
};

export const hooksSchema = strict(
  {
    before: hookSchema<Hook>().optional(),
    after: hookSchema<Hook>().optional(),
    publishing: sqlFileSchema.optional(),
    published: hookSchema<Hook>().optional(),
    failed: hookSchema<FailedHook>().optional(),
    timeoutMs: wholeNumber(`a number of milliseconds from 1 to ${timeoutMsMax}`, 1, timeoutMsMax).default(
      timeoutMsDefault,
    ),
  },
  'an object such as { published: sqlFile(…) }',
).transform((hooks): HooksSpec => hooks);
