// Joins small pieces of bytes into large blocks, because later steps have a cost per block.

/** Number of buffers: the receiver may read two blocks while the third one is filled. */
export const blocksAtOnce = 3;

/** A piece of at least this share of a block is passed on without a copy, which would cost more. */
const largePart = 1 / 4;

/** Yields large blocks. A block's memory is reused when the second block after it is requested. */
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
