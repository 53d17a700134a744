// Small pieces of decoded bytes as large blocks, in memory that is used again: splitting and decoding are paid for each block, too.

import { readBytes } from '../limits.ts';

/** One block is with the receiver, the rest of the one before it may be, and the next one is being filled. */
const blocksAtOnce = 3;

/** A piece of at least this part of a block is one by itself: copying it would cost more than a block more does. */
const largePart = 1 / 4;

/** The same bytes in blocks. A block's bytes stay valid until the second block after it is requested. */
export async function* inLargeBlocks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const memory: Buffer[] = [];
  let turn = 0;
  let filled = 0;
  for await (const piece of pieces)
    for (let taken = 0; taken < piece.length;) {
      if (filled === 0 && piece.length - taken >= largePart * readBytes) {
        yield piece.subarray(taken);
        break;
      }
      const block = (memory[turn] ??= Buffer.allocUnsafeSlow(readBytes));
      const bytes = piece.copy(block, filled, taken);
      taken += bytes;
      filled += bytes;
      if (filled < readBytes) continue;
      [turn, filled] = [(turn + 1) % blocksAtOnce, 0];
      yield block;
    }
  if (filled > 0) yield memory[turn]!.subarray(0, filled);
}
