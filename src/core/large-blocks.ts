// Joins small pieces of bytes into large blocks in reused memory, because later steps have a cost per block.

/** One block is with the receiver, the rest of the one before it may be, and the next one is being filled. */
export const blocksAtOnce = 3;

/** A piece of at least this part of a block is one by itself: copying it would cost more than a block more does. */
const largePart = 1 / 4;

/** The same bytes in blocks of at most `blockBytes`. A block's bytes stay valid until the second block after it is requested. */
export async function* inLargeBlocks(
  pieces: AsyncIterable<Buffer>,
  blockBytes: number,
): AsyncGenerator<Buffer, void> {
  const memory: Buffer[] = [];
  let turn = 0;
  let filled = 0;
  for await (const piece of pieces)
    for (let taken = 0; taken < piece.length;) {
      if (filled === 0 && piece.length - taken >= largePart * blockBytes) {
        yield piece.subarray(taken, taken + blockBytes);
        taken += blockBytes;
        continue;
      }
      const block = (memory[turn] ??= Buffer.allocUnsafeSlow(blockBytes));
      const bytes = piece.copy(block, filled, taken);
      taken += bytes;
      filled += bytes;
      if (filled < blockBytes) continue;
      [turn, filled] = [(turn + 1) % blocksAtOnce, 0];
      yield block;
    }
  if (filled > 0) yield memory[turn]!.subarray(0, filled);
}
