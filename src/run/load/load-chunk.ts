// Loads one chunk: COPY, rejects and ledger row in one transaction.

import { judgeLoading, selectLoading } from '../../checkpoint/epoch.ts';
import { claimChunk, completeChunk, endFile, selectChunk } from '../../checkpoint/ledger.ts';
import { copyIn } from '../../copy/copy-in.ts';
import { commit, runQuery, runTogether, withTransaction } from '../../db/client.ts';
import { mayBeDataRefusal, retryOf } from '../../db/retry.ts';
import { codeOf, EtlError } from '../../errors.ts';
import { chunkAttemptsMax } from '../../limits.ts';
import type { Counts, Position } from '../../model.ts';
import type { LoadTimes } from '../../profile.ts';
import { keepRejects } from '../../reject/store.ts';
import { formatCount, plural } from '../../wording.ts';
import {
  addToTally,
  chunkBlocks,
  emptyTally,
  takeBlock,
  type ChunkTally,
  type FileLoad,
  type Times,
} from './chunk-source.ts';
import { copyCarefully } from './load-carefully.ts';

/** The result of a chunk: where the next one begins, counts and times. */
export interface LoadedChunk {
  readonly end: Position;
  readonly counts: Counts;
  readonly times: LoadTimes;
  /** The end of the file was found right after it; false if that was already known. */
  readonly isLast: boolean;
}

/** The usual way: one COPY for the whole chunk. */
const copyWhole = async (load: FileLoad, from: Position, tally: ChunkTally): Promise<number> => {
  const lap = stopwatch(tally.times);
  async function* rows(): AsyncGenerator<Buffer, void> {
    if (load.frame.head.length > 0) yield load.frame.head;
    lap('copy');
    for await (const block of chunkBlocks(load, from, tally)) {
      lap('read');
      const taken = takeBlock(load, block, tally);
      addToTally(load, taken.block, taken.decoded, tally);
      lap('decode');
      if (taken.decoded.copyBytes.length > 0) yield taken.decoded.copyBytes;
      lap('copy');
    }
    lap('read');
    if (load.frame.tail.length > 0) yield load.frame.tail;
  }
  const copied = await copyIn(load.client, load.copyStatement, rows(), load.breakOff);
  lap('copy');
  return copied;
};

/** Returns a function that adds the time since its last call to the named part. */
const stopwatch = (times: Times): ((what: keyof LoadTimes) => void) => {
  let last = performance.now();
  return (what) => {
    const now = performance.now();
    times[what] += now - last;
    last = now;
  };
};

type CopyChunk = (load: FileLoad, from: Position, tally: ChunkTally) => Promise<number>;

const attempt = async (load: FileLoad, from: Position, copy: CopyChunk): Promise<LoadedChunk> => {
  const { client, file, lease } = load;
  const tally = emptyTally(from);
  const { times } = tally;
  const start = performance.now();
  try {
    const loaded = await withTransaction(
      client,
      async ([loading, claimed]) => {
        await judgeLoading(client, lease, loading!);
        if (claimed!.rows.length === 0) return { chunk: await loadedBefore(load, from), last: [] };
        const copied = await copy(load, from, tally);
        checkTally(load, from, tally, copied);
        const source = { runId: lease.runId, table: file.table, fileId: file.id };
        await keepRejects(client, source, tally.rejects);
        const { end, counts, isLast } = tally;
        const last = [
          completeChunk(file.id, from, end, counts),
          ...(isLast ? [endFile(file.id, end.byte)] : []),
        ];
        return { chunk: { end, counts, isLast }, last };
      },
      {
        // The ledger row goes first: no row back means that the chunk is loaded, before we send a byte.
        // Proved by test/integration/load-chunk.test.ts, "a second load of a chunk copies nothing".
        first: [selectLoading(lease), claimChunk(file.id, from, lease.epoch)],
        end: ({ last }) => runTogether(client, [...last, commit]),
      },
    );
    times.ledger = performance.now() - start - times.read - times.decode - times.copy;
    return { ...loaded.chunk, times };
  } catch (error) {
    const { records, copied, rejected, filtered } = tally.counts;
    const undone = { records: -records, copied: -copied, rejected: -rejected, filtered: -filtered };
    load.onDecoded(from.byte - tally.end.byte, undone);
    // A process that took over the run may have deleted the file's row: then that is the error, not the missing row.
    // Proved by test/integration/generation.test.ts, "of a file that is forgotten".
    if (codeOf(error) === '23503')
      await judgeLoading(client, lease, await runQuery(client, selectLoading(lease)));
    throw error;
  }
};

const loadedBefore = async (load: FileLoad, from: Position): Promise<Omit<LoadedChunk, 'times'>> => {
  const { rows } = await runQuery(load.client, selectChunk(load.file.id, from.byte));
  const { byte, line, record, ...counts } = rows[0];
  load.onDecoded(byte - from.byte, counts);
  return { end: { byte, line, record }, counts, isLast: false };
};

const checkTally = (
  { file }: FileLoad,
  from: Position,
  { end, counts }: ChunkTally,
  copied: number,
): void => {
  const { table, name } = file;
  if (end.byte === from.byte) throw new EtlError('ETL_SOURCE_CHANGED', { table, file: name });
  if (copied === counts.copied) return;
  const problem = `${name} from byte ${from.byte}: ${plural(counts.copied, 'row')} sent, the server took ${formatCount(copied)}`;
  throw new EtlError('ETL_INCOMPLETE', { table, problem });
};

/**
 * Loads the chunk that begins at `from` exactly once: a chunk that the ledger has is not copied again.
 *
 * If the server refuses a value that we could not check (`column.of`, text staging), the chunk is loaded again
 * carefully, and the records at fault become rejects. Errors: ETL_SOURCE_CHANGED, ETL_INCOMPLETE,
 * ETL_USER_FUNCTION; the driver's own when the connection is lost.
 */
export const loadChunk = async (load: FileLoad, from: Position): Promise<LoadedChunk> => {
  let copy: CopyChunk = copyWhole;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(load, from, copy);
    } catch (error) {
      if (mayBeDataRefusal(error) && copy === copyWhole) copy = copyCarefully;
      else if (retryOf(error) !== 'chunk' || tries >= chunkAttemptsMax) throw error;
    }
  }
};
