// Attempts under a savepoint: a refused attempt is undone, and the transaction continues.

import { copyIn } from './copy-in.ts';
import { runTogether, type Client } from '../../db/client.ts';
import { mayBeDataRefusal } from '../../db/retry.ts';
import type { Query } from '../../db/sql.ts';
import type { ChunkLoad } from './chunk.ts';
import type { FileReader } from './file-reader.ts';

export interface Attempts {
  /** Calls `work`, which must send `first` before its statements. Undoes and returns a refusal. */
  readonly attempt: (work: (first: readonly Query[]) => Promise<unknown>) => Promise<Error | undefined>;
  readonly undo: () => void;
  readonly end: () => Promise<void>;
}

/**
 * Uses one savepoint, because each nested savepoint would take an entry of the server's lock table.
 * Proved by test/integration/load-chunk.test.ts, "more refusals than the server has locks".
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

type CopyTarget = Pick<ChunkLoad, 'client' | 'breakOff'> & { readonly reader: Pick<FileReader, 'copy'> };

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

export const tryCopy = (
  target: CopyTarget,
  { attempt }: Attempts,
  bytes: Buffer,
): Promise<Error | undefined> =>
  attempt((first) => copyRows(target, target.reader.copy.statement, bytes, first));
