// Loads one chunk: COPY, rejects and ledger row in one transaction.

import { judgeLoading, mayLoad, selectLoading } from '../../ledger/run/epoch.ts';
import { claimChunk, completeChunk, endFile, selectChunk } from '../../ledger/run/ledger.ts';
import { copyIn, type AheadOfCopy } from './copy-in.ts';
import { commit, runQuery, runTogether, withOwnTransaction, withTransaction } from '../../db/client.ts';
import { mayBeDataRefusal, retryOf } from '../../db/retry.ts';
import type { Query } from '../../db/sql.ts';
import { codeOf, EtlError, isSqlState } from '../../core/errors/errors.ts';
import { chunkAttemptsMax } from '../../core/limits.ts';
import type { Position } from '../../core/model.ts';
import type { Times } from '../../core/profile.ts';
import { keepRejects } from '../../ledger/rejects/store.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { addRows, chunkRows, emptyChunk, type Chunk, type ChunkLoad } from './chunk.ts';
import { copyCarefully } from './load-carefully.ts';

const stopwatch = (times: Times): ((what: keyof Times) => void) => {
  let last = performance.now();
  return (what) => {
    const now = performance.now();
    times[what] += now - last;
    last = now;
  };
};

/** Copies all blocks of a chunk. The statements `ahead` are sent in the COPY's message. */
const copyWhole = async (load: ChunkLoad, chunk: Chunk, ahead?: AheadOfCopy): Promise<number> => {
  const lap = stopwatch(chunk.times);
  const { statement, head, tail } = load.reader.copy;
  async function* bytes(): AsyncGenerator<Buffer, void> {
    if (head.length > 0) yield head;
    lap('copy');
    for await (const rows of chunkRows(load, chunk)) {
      lap('decode');
      chunk.times.decode -= rows.readMs;
      chunk.times.read += rows.readMs;
      addRows(load, rows, chunk);
      if (rows.copyBytes.length > 0) yield rows.copyBytes;
      lap('copy');
    }
    lap('read');
    if (tail.length > 0) yield tail;
  }
  const copied = await copyIn(load.client, statement, bytes(), load.breakOff, ahead);
  lap('copy');
  return copied;
};

const checkCopied = ({ file }: ChunkLoad, { start, end, counts }: Chunk, copied: number): void => {
  const { table, name } = file;
  if (end.byte === start.byte) throw new EtlError('ETL_SOURCE_CHANGED', { table, file: name });
  if (copied === counts.copied) return;
  const problem = `${name} from byte ${start.byte}: ${plural(counts.copied, 'row')} sent, the server took ${formatCount(copied)}`;
  throw new EtlError('ETL_INCOMPLETE', { table, problem });
};

const settle = async (load: ChunkLoad, chunk: Chunk, copied: number): Promise<readonly Query[]> => {
  const { client, file, lease } = load;
  const { start, end, counts, isLast, rejects } = chunk;
  checkCopied(load, chunk, copied);
  await keepRejects(client, { runId: lease.runId, table: file.table, fileId: file.id }, rejects);
  return [completeChunk(file.id, start, end, counts), ...(isLast ? [endFile(file.id, end.byte)] : [])];
};

const attempt = async (
  { listener }: ChunkLoad,
  start: Position,
  work: (chunk: Chunk) => Promise<void>,
): Promise<Chunk> => {
  const chunk = emptyChunk(start);
  const { times } = chunk;
  const began = performance.now();
  try {
    await work(chunk);
    times.ledger = performance.now() - began - times.read - times.decode - times.copy;
    return chunk;
  } catch (error) {
    const { records, copied, rejected, filtered } = chunk.counts;
    const undone = { records: -records, copied: -copied, rejected: -rejected, filtered: -filtered };
    listener.decoded(start.byte - chunk.end.byte, undone);
    throw error;
  }
};

type Attempt = (load: ChunkLoad, start: Position) => Promise<Chunk | undefined>;

/**
 * Statements that check the lease, and claim the chunk's ledger row before the COPY. If the claim
 * returns no row, the chunk is already loaded. Proved by
 * test/integration/load-chunk.test.ts, "a second load of a chunk copies nothing".
 */
const beginning = ({ file, lease }: ChunkLoad, start: Position): readonly Query[] => [
  selectLoading(lease),
  claimChunk(file.id, start, lease.epoch),
];

const notToBeLoaded = new Error('the chunk is not to be loaded');

/** The usual attempt: one message begins the transaction, claims the chunk and starts COPY. */
const together: Attempt = async (load, start) => {
  const { client, lease } = load;
  let hasBegun = false;
  const judge: AheadOfCopy['judge'] = ([loading, claimed]) => {
    hasBegun = mayLoad(lease, loading!) && claimed!.rows.length > 0;
    if (!hasBegun) throw notToBeLoaded;
  };
  try {
    return await attempt(load, start, (chunk) =>
      withOwnTransaction(client, async (begin, ending) => {
        const statements = [begin, ...beginning(load, start)];
        const copied = await copyWhole(load, chunk, { statements, judge });
        await runTogether(client, [...(await settle(load, chunk, copied)), ending]);
      }),
    );
  } catch (error) {
    const isServers = isSqlState(codeOf(error)) && retryOf(error) !== 'server';
    if (error === notToBeLoaded || (isServers && !hasBegun)) return undefined;
    throw error;
  }
};

const takeLoaded = async ({ client, file, listener }: ChunkLoad, chunk: Chunk): Promise<void> => {
  const { rows } = await runQuery(client, selectChunk(file.id, chunk.start.byte));
  const { byte, line, record, ...counts } = rows[0];
  listener.decoded(byte - chunk.start.byte, counts);
  chunk.end = { byte, line, record };
  chunk.counts = counts;
};

/** An attempt that begins the transaction in its own message, so that each failure is distinct. */
const apart =
  (copy: (load: ChunkLoad, chunk: Chunk) => Promise<number>): Attempt =>
  async (load, start) => {
    const { client, lease } = load;
    const work = (chunk: Chunk): Promise<readonly Query[]> =>
      withTransaction(
        client,
        async ([loading, claimed]) => {
          await judgeLoading(client, lease, loading!);
          if (claimed!.rows.length > 0) return settle(load, chunk, await copy(load, chunk));
          await takeLoaded(load, chunk);
          return [];
        },
        { first: beginning(load, start), end: (last) => runTogether(client, [...last, commit]) },
      );
    try {
      return await attempt(load, start, async (chunk) => void (await work(chunk)));
    } catch (error) {
      // Another process may have taken over the run and deleted the file's row: then the lost lease
      // is the error. Proved by test/integration/generation.test.ts, "of a file that is forgotten".
      if (codeOf(error) === '23503')
        await judgeLoading(client, lease, await runQuery(client, selectLoading(lease)));
      throw error;
    }
  };

const wholeApart = apart(copyWhole);
const carefully = apart(copyCarefully);

/**
 * Loads the chunk that begins at `start`, unless the ledger has it. If the server refuses a value
 * that sluice cannot check, loads the chunk again, and rejects the refused records.
 *
 * Errors: ETL_SOURCE_CHANGED, ETL_INCOMPLETE, ETL_USER_FUNCTION, those of the driver.
 */
export const loadChunk = async (load: ChunkLoad, start: Position): Promise<Readonly<Chunk>> => {
  let attempting = together;
  for (let failures = 0; ;) {
    try {
      const loaded = await attempting(load, start);
      if (loaded !== undefined) return loaded;
      attempting = wholeApart;
    } catch (error) {
      failures += 1;
      if (mayBeDataRefusal(error) && attempting !== carefully) attempting = carefully;
      else if (retryOf(error) !== 'chunk' || failures >= chunkAttemptsMax) throw error;
    }
  }
};
