// All bytes of a stream at once.

export const collectBytes = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  // The memory of a piece may be used again.
  for await (const piece of stream) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
};
