// Loads a chunk that the server refused: halves it under savepoints until the records at fault are alone.
//
// The cost is paid only on error: about log2(records) COPYs for each bad record.

import { copyIn } from '../../copy/copy-in.ts';
import { mayBeDataRefusal } from '../../db/retry.ts';
import { codeOf, messageOf } from '../../errors.ts';
import type { Position, Reject } from '../../model.ts';
import type { RecordBlock } from '../../format/split/record-blocks.ts';
import { recordAt } from '../../format/record-judge.ts';
import { sliceBlock } from '../../format/split/record-slice.ts';
import { onOneLine } from '../../wording.ts';
import { addToTally, chunkBlocks, takeBlock, type ChunkTally, type FileLoad } from './chunk-source.ts';

async function* single(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}

/** Tries one COPY under a savepoint; returns the server's refusal, or undefined when it took the rows. */
export const tryCopy = async (
  load: Pick<FileLoad, 'client' | 'copyStatement' | 'frame' | 'breakOff'>,
  bytes: Buffer,
): Promise<Error | undefined> => {
  const { client, copyStatement, frame, breakOff } = load;
  await client.query('savepoint part');
  try {
    await copyIn(client, copyStatement, single(Buffer.concat([frame.head, bytes, frame.tail])), breakOff);
    await client.query('release savepoint part');
    return undefined;
  } catch (error) {
    if (!(error instanceof Error) || !mayBeDataRefusal(error)) throw error;
    // Ended as well, or each refusal would be one level deeper, and each level holds a lock of a table that all share.
    // Proved by test/integration/load-chunk.test.ts, "more refusals than the server has locks".
    await client.query('rollback to savepoint part; release savepoint part');
    return error;
  }
};

/** The column that the server names in the context of its error ("COPY t, line 1, column c: …"), if it does. */
const columnIn = (error: unknown): string | null => {
  const where = (error as { where?: string }).where ?? '';
  return /, column ([^:]+):/.exec(where)?.[1] ?? null;
};

/** The reject that the server's refusal makes of a block of one record. */
export const refusalOf = (block: RecordBlock, error: unknown): Reject => ({
  column: columnIn(error),
  code: 'server',
  reason: `${codeOf(error)} ${onOneLine(messageOf(error))}`,
  ...recordAt(block, 0),
});

/** Copies the rows of the records, halving where the server refuses, until the chunk has all the rejects that it may. */
const copyPart = async (load: FileLoad, whole: RecordBlock, tally: ChunkTally): Promise<void> => {
  if (tally.rejects.length >= load.rejectsMax) return;
  const { block, decoded } = takeBlock(load, whole, tally);
  const { copyBytes, counts } = decoded;
  const refusal = counts.copied === 0 ? undefined : await tryCopy(load, copyBytes);
  if (refusal === undefined) {
    addToTally(load, block, decoded, tally);
    return;
  }
  const records = block.spans.starts.length;
  if (records === 1) {
    const refused = { records, copied: 0, rejected: 1, filtered: 0 };
    addToTally(load, block, { counts: refused, rejects: [refusalOf(block, refusal)] }, tally);
    return;
  }
  const middle = Math.ceil(records / 2);
  await copyPart(load, sliceBlock(block, 0, middle), tally);
  await copyPart(load, sliceBlock(block, middle, records), tally);
};

/**
 * Loads the chunk that begins at `from` block by block; records that the server refuses become rejects. Throws what it
 * refuses of no record at all: that is about the table or the session.
 */
export const copyCarefully = async (load: FileLoad, from: Position, tally: ChunkTally): Promise<number> => {
  const refusal = await tryCopy(load, Buffer.alloc(0));
  if (refusal !== undefined) throw refusal;
  for await (const block of chunkBlocks(load, from, tally)) await copyPart(load, block, tally);
  return tally.counts.copied;
};
