// Sends bytes to the server as one COPY.

import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Client } from '../db/client.ts';

/**
 * Runs one COPY … FROM STDIN with these bytes and returns the number of rows the server took.
 *
 * Backpressure comes from the socket: the next bytes are asked for when the last ones are on their way. When `bytes`
 * throws, the server is told (CopyFail), the transaction is to be rolled back, and the error is passed on.
 */
export const copyIn = async (
  client: Client,
  statement: string,
  bytes: AsyncGenerator<Buffer, void>,
  signal?: AbortSignal,
): Promise<number> => {
  const stream = client.query(copyFrom(statement));
  try {
    await pipeline(bytes, stream, { signal });
    return stream.rowCount ?? 0;
  } finally {
    // When the server refuses, the next piece may be in the making: nobody counts it after the error is told.
    await bytes.return();
  }
};
