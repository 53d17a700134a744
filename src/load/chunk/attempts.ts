// Attempts under a savepoint: what the server refuses leaves nothing, and the transaction goes on.

import { copyIn } from './copy-in.ts';
import { runTogether, type Client } from '../../db/client.ts';
import { mayBeDataRefusal } from '../../db/retry.ts';
import type { Query } from '../../db/sql.ts';
import type { ChunkLoad } from './chunk.ts';
import type { FileReader } from './file-reader.ts';

/** A savepoint under which one thing after another is tried. */
export interface Attempts {
  /** Tries what `work` does after it has sent these statements; returns the server's refusal, which leaves nothing of that. */
  readonly attempt: (work: (first: readonly Query[]) => Promise<unknown>) => Promise<Error | undefined>;
  /** Takes back what the last one did. */
  readonly undo: () => void;
  /** Keeps what was done. */
  readonly end: () => Promise<void>;
}

/**
 * Makes attempts. What becomes of one goes ahead of the next one, which spares a round trip. A refusal does not open another level:
 * each level holds a lock of a table that all share. Proved by test/integration/load-chunk.test.ts, "more refusals than the server has
 * locks".
 */
export const createAttempts = (client: Client): Attempts => {
  const [savepoint, release, rollback] = ['savepoint', 'release savepoint', 'rollback to savepoint'].map(
    (command) => ({ text: `${command} part` }),
  ) as [Query, Query, Query];
  let last: 'none' | 'done' | 'refused' = 'none';
  const first = { none: [savepoint], done: [release, savepoint], refused: [rollback] };
  const final = { none: [], done: [release], refused: [rollback, release] };
  return {
    attempt: async (work) => {
      try {
        await work(first[last]);
        last = 'done';
        return undefined;
      } catch (error) {
        if (!(error instanceof Error) || !mayBeDataRefusal(error)) throw error;
        last = 'refused';
        return error;
      }
    },
    undo: () => void (last = 'refused'),
    end: async () => {
      if (last !== 'none') await runTogether(client, final[last]);
      last = 'none';
    },
  };
};

/** What a COPY of some rows needs. */
type CopyTarget = Pick<ChunkLoad, 'client' | 'breakOff'> & { readonly reader: Pick<FileReader, 'copy'> };

/** Copies rows behind these statements; returns how many the server took. */
export const copyRows = (
  { client, reader, breakOff }: CopyTarget,
  statement: string,
  bytes: Buffer,
  statements: readonly Query[],
): Promise<number> => {
  const { head, tail } = reader.copy;
  async function* rows(): AsyncGenerator<Buffer, void> {
    yield Buffer.concat([head, bytes, tail]);
  }
  return copyIn(client, statement, rows(), breakOff, { statements, judge: () => undefined });
};

/** Tries one COPY; returns the server's refusal, or undefined when it took the rows. */
export const tryCopy = (
  target: CopyTarget,
  { attempt }: Attempts,
  bytes: Buffer,
): Promise<Error | undefined> =>
  attempt((first) => copyRows(target, target.reader.copy.statement, bytes, first));
