// The hooks of a pipeline: their types for authors, and their schema.

import { z } from 'zod';
import type { FailedHook, Hook, HooksSpec, SqlFile } from '../../core/hook.ts';
import { mustBe, strict, wholeNumber } from '../problems.ts';
import { sqlFileSchema } from './sql-file.ts';

/** SQL files or functions that a run calls at certain points. */
export interface Hooks {
  /**
   * Called when the run begins to load, and again each time it is continued. If the hook fails, the
   * run fails and publishes nothing.
   */
  readonly before?: Hook;
  /**
   * Called when all files are loaded, before tables are built. If the hook fails, the run fails and
   * publishes nothing.
   */
  readonly after?: Hook;
  /**
   * Executed once in the publishing transaction, after the tables were swapped. Readers wait until
   * it ends, so keep it short: grants and the like. If it fails, nothing is published.
   */
  readonly publishing?: SqlFile;
  /**
   * Called after the run was published, at least once: again if the process is killed during the
   * call. If the hook fails, the command fails, but the tables remain published.
   */
  readonly published?: Hook;
  /** Called once after the run failed, unless the process was killed. */
  readonly failed?: FailedHook;
  /** Timeout of each hook, in milliseconds. Default: 600,000 (ten minutes). */
  readonly timeoutMs?: number;
}

const timeoutMsDefault = 600_000;

/** The longest delay of a Node timer. */
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
