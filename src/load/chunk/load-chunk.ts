// Loads one chunk: COPY, rejects and ledger row in one transaction.

import { judgeLoading, mayLoad, selectLoading } from '../../ledger/run/epoch.ts';
import { claimChunk, completeChunk, endFile, selectChunk } from '../../ledger/run/ledger.ts';
import { copyIn, type AheadOfCopy } from './copy-in.ts';
import { commit, runQuery, runTogether, withOwnTransaction, withTransaction } from '../../db/client.ts';
import { mayBeDataRefusal, retryOf } from '../../db/retry.ts';
import type { Query } from '../../db/sql.ts';
import { codeOf, EtlError, isSqlState } from '../../core/errors/errors.ts';
import { chunkAttemptsMax } from '../../core/limits.ts';
import type { Counts, Position } from '../../core/model.ts';
import type { LoadTimes, Times } from '../../core/profile.ts';
import { keepRejects } from '../../ledger/rejects/store.ts';
import { formatCount, plural } from '../../core/wording.ts';
import {
  addToTally,
  chunkBlocks,
  emptyTally,
  takeBlock,
  type ChunkTally,
  type FileLoad,
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

/** One COPY for the whole chunk, and what goes ahead of it in its message. */
const copyWhole = async (
  load: FileLoad,
  from: Position,
  tally: ChunkTally,
  ahead?: AheadOfCopy,
): Promise<number> => {
  const lap = stopwatch(tally.times);
  const { copyStatement, frame } = load.landing;
  async function* rows(): AsyncGenerator<Buffer, void> {
    if (frame.head.length > 0) yield frame.head;
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
    if (frame.tail.length > 0) yield frame.tail;
  }
  const copied = await copyIn(load.client, copyStatement, rows(), load.breakOff, ahead);
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

/** The rows are with the server: what completes the ledger row, in the message that commits. */
const settle = async (
  load: FileLoad,
  from: Position,
  tally: ChunkTally,
  copied: number,
): Promise<{ readonly chunk: Omit<LoadedChunk, 'times'>; readonly last: readonly Query[] }> => {
  const { client, file, lease } = load;
  const { end, counts, isLast, rejects } = tally;
  checkTally(load, from, tally, copied);
  await keepRejects(client, { runId: lease.runId, table: file.table, fileId: file.id }, rejects);
  const last = [completeChunk(file.id, from, end, counts), ...(isLast ? [endFile(file.id, end.byte)] : [])];
  return { chunk: { end, counts, isLast }, last };
};

/** Measures an attempt, and takes back what it reported when it fails. */
const attempt = async (
  { onDecoded }: FileLoad,
  from: Position,
  work: (tally: ChunkTally) => Promise<Omit<LoadedChunk, 'times'>>,
): Promise<LoadedChunk> => {
  const tally = emptyTally(from);
  const { times } = tally;
  const start = performance.now();
  try {
    const chunk = await work(tally);
    times.ledger = performance.now() - start - times.read - times.decode - times.copy;
    return { ...chunk, times };
  } catch (error) {
    const { records, copied, rejected, filtered } = tally.counts;
    const undone = { records: -records, copied: -copied, rejected: -rejected, filtered: -filtered };
    onDecoded(from.byte - tally.end.byte, undone);
    throw error;
  }
};

/** An attempt to load a chunk; undefined: nothing was copied, and why has to be asked apart. */
type Attempt = (load: FileLoad, from: Position) => Promise<LoadedChunk | undefined>;

/**
 * What goes first: may the run be loaded, and is the chunk ours? The ledger row goes before any byte: no row back means that the chunk is
 * loaded. Proved by test/integration/load-chunk.test.ts, "a second load of a chunk copies nothing".
 */
const beginning = ({ file, lease }: FileLoad, from: Position): readonly Query[] => [
  selectLoading(lease),
  claimChunk(file.id, from, lease.epoch),
];

const notToBeLoaded = new Error('the chunk is not to be loaded');

/** The usual way: one message begins, claims and starts the COPY. A failure of that does not tell which part of it failed. */
const together: Attempt = async (load, from) => {
  const { client, lease } = load;
  let hasBegun = false;
  const judge: AheadOfCopy['judge'] = ([loading, claimed]) => {
    hasBegun = mayLoad(lease, loading!) && claimed!.rows.length > 0;
    if (!hasBegun) throw notToBeLoaded;
  };
  try {
    return await attempt(load, from, (tally) =>
      withOwnTransaction(client, async (begin, ending) => {
        const statements = [begin, ...beginning(load, from)];
        const copied = await copyWhole(load, from, tally, { statements, judge });
        const { chunk, last } = await settle(load, from, tally, copied);
        await runTogether(client, [...last, ending]);
        return chunk;
      }),
    );
  } catch (error) {
    const isServers = isSqlState(codeOf(error)) && retryOf(error) !== 'server';
    if (error === notToBeLoaded || (isServers && !hasBegun)) return undefined;
    throw error;
  }
};

/** Begins by itself, before anything is copied: each failure has its reason. */
const apart =
  (copy: (load: FileLoad, from: Position, tally: ChunkTally) => Promise<number>): Attempt =>
  async (load, from) => {
    const { client, lease } = load;
    try {
      return await attempt(load, from, async (tally) => {
        const { chunk } = await withTransaction(
          client,
          async ([loading, claimed]) => {
            await judgeLoading(client, lease, loading!);
            if (claimed!.rows.length === 0) return { chunk: await loadedBefore(load, from), last: [] };
            return settle(load, from, tally, await copy(load, from, tally));
          },
          {
            first: beginning(load, from),
            end: ({ last }) => runTogether(client, [...last, commit]),
          },
        );
        return chunk;
      });
    } catch (error) {
      // A process that took over the run may have deleted the file's row: then that is the error, not the missing row.
      // Proved by test/integration/generation.test.ts, "of a file that is forgotten".
      if (codeOf(error) === '23503')
        await judgeLoading(client, lease, await runQuery(client, selectLoading(lease)));
      throw error;
    }
  };

const wholeApart = apart(copyWhole);
const carefully = apart(copyCarefully);

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
  let attempting = together;
  for (let failures = 0; ;) {
    try {
      const loaded = await attempting(load, from);
      if (loaded !== undefined) return loaded;
      attempting = wholeApart;
    } catch (error) {
      failures += 1;
      if (mayBeDataRefusal(error) && attempting !== carefully) attempting = carefully;
      else if (retryOf(error) !== 'chunk' || failures >= chunkAttemptsMax) throw error;
    }
  }
};
