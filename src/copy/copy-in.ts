// Sends bytes to the server as one COPY.

import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Client } from '../db/client.ts';
import { copyPieceBytes } from '../limits.ts';

/**
 * Passes large buffers through; copies small ones, whose memory is reused. The stream requests the next buffer when one of at
 * least its high-water mark is on its way; it keeps a reference to a smaller one.
 */
async function* lasting(pieces: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) yield piece.length < copyPieceBytes ? Buffer.from(piece) : piece;
}

/**
 * Runs one COPY … FROM STDIN with these bytes and returns the number of rows the server took.
 *
 * Backpressure comes from the socket: the next bytes are asked for when the last ones are on their way, or copied, so that
 * a piece's memory may be used again then (test/integration/copy-in.test.ts). When `bytes`
 * throws, the server gets a CopyFail, the transaction is to be rolled back, and the error is passed on.
 */
export const copyIn = async (
  client: Client,
  statement: string,
  bytes: AsyncGenerator<Buffer, void>,
  signal?: AbortSignal,
): Promise<number> => {
  const stream = client.query(copyFrom(statement, { highWaterMark: copyPieceBytes }));
  try {
    await pipeline(lasting(bytes), stream, { signal });
    return stream.rowCount ?? 0;
  } finally {
    // When the server refuses, the next piece may be in the making: nobody counts it after the error.
    await bytes.return();
  }
};
