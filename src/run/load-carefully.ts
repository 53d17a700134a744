// Loads a chunk that the server refused: halves it under savepoints until the records at fault are alone.
//
// The cost is paid only on error: about log2(records) COPYs for each bad record.

import { copyIn } from '../copy/copy-in.ts';
import { isDataRefusal } from '../db/retry.ts';
import { codeOf, messageOf } from '../errors.ts';
import type { Position, Reject } from '../model.ts';
import { rawText } from '../format/raw-text.ts';
import type { RecordBlock } from '../format/record-blocks.ts';
import { chunkBlocks, decodeBlock, type ChunkTally, type FileLoad } from './chunk-source.ts';

/** The records [from, to) of a block as a block of their own. */
const slice = (block: RecordBlock, from: number, to: number): RecordBlock => {
  const { bytes, spans, position } = block;
  const firstByte = spans.starts[from]!;
  const firstLine = spans.lines[from]!;
  const isLast = to === spans.starts.length;
  const lastByte = isLast ? bytes.length : spans.starts[to]!;
  const faults = [...spans.faults].filter(([index]) => index >= from && index < to);
  return {
    bytes: bytes.subarray(firstByte, lastByte),
    position: {
      byte: position.byte + firstByte,
      line: position.line + firstLine,
      record: position.record + from,
    },
    fileBytes: lastByte - firstByte,
    spans: {
      starts: spans.starts.slice(from, to).map((start) => start - firstByte),
      ends: spans.ends.slice(from, to).map((end) => end - firstByte),
      lines: spans.lines.slice(from, to).map((line) => line - firstLine),
      faults: new Map(faults.map(([index, code]) => [index - from, code])),
      consumed: lastByte - firstByte,
      newlines: (isLast ? spans.newlines : spans.lines[to]!) - firstLine,
      plain: spans.plain && to - from > 0,
    },
  };
};

async function* single(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}

/** Tries one COPY under a savepoint; returns the server's refusal, or undefined when it took the rows. */
const tryCopy = async (load: FileLoad, bytes: Buffer): Promise<unknown> => {
  const { client, copyStatement, frame, signal } = load;
  await client.query('savepoint part');
  try {
    await copyIn(client, copyStatement, single(Buffer.concat([frame.head, bytes, frame.tail])), signal);
    await client.query('release savepoint part');
    return undefined;
  } catch (error) {
    if (!isDataRefusal(error)) throw error;
    await client.query('rollback to savepoint part');
    return error;
  }
};

/** The column that the server names in the context of its error ("COPY t, line 1, column c: …"), if it does. */
const columnIn = (error: unknown): string | null => {
  const where = (error as { where?: string }).where ?? '';
  return /, column ([^:]+):/.exec(where)?.[1] ?? null;
};

const rejectOf = (block: RecordBlock, error: unknown): Reject => ({
  position: block.position,
  column: columnIn(error),
  code: 'server',
  reason: `${codeOf(error)} ${messageOf(error)}`,
  raw: rawText(block.bytes.subarray(block.spans.starts[0], block.spans.ends[0])),
});

/** Copies the rows of the records, halving where the server refuses; returns how many it took. */
const copyPart = async (load: FileLoad, block: RecordBlock, rejects: Reject[]): Promise<number> => {
  const { copyBytes, counts } = load.decode(block);
  if (counts.copied === 0) return 0;
  const refusal = await tryCopy(load, copyBytes);
  if (refusal === undefined) return counts.copied;
  const records = block.spans.starts.length;
  if (records === 1) {
    rejects.push(rejectOf(block, refusal));
    return 0;
  }
  const middle = Math.ceil(records / 2);
  const first = await copyPart(load, slice(block, 0, middle), rejects);
  return first + (await copyPart(load, slice(block, middle, records), rejects));
};

/** Loads the chunk that begins at `from` block by block; records that the server refuses become rejects. */
export const copyCarefully = async (load: FileLoad, from: Position, tally: ChunkTally): Promise<number> => {
  let copied = 0;
  for await (const block of chunkBlocks(load, from, tally)) {
    decodeBlock(load, block, tally);
    const refused: Reject[] = [];
    copied += await copyPart(load, block, refused);
    tally.rejects.push(...refused);
    const moved = { records: 0, copied: -refused.length, rejected: refused.length, filtered: 0 };
    const { records, copied: sent, rejected, filtered } = tally.counts;
    tally.counts = { records, copied: sent + moved.copied, rejected: rejected + moved.rejected, filtered };
    load.onDecoded(0, moved);
  }
  tally.rejects.sort((a, b) => a.position.byte - b.position.byte);
  return copied;
};
