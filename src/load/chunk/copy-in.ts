// Sends bytes to the server as one COPY.

import { pipeline } from 'node:stream/promises';
import { from as copyFrom, type CopyStreamQuery } from 'pg-copy-streams';
import type { Client, QueryResult } from '../../db/client.ts';
import { collectRows } from '../../db/connect/pg.ts';
import { inline, type Query } from '../../db/sql.ts';
import { copyPieceBytes } from '../../core/limits.ts';

/**
 * Passes large buffers through; copies small ones, whose memory is reused. The stream requests the next buffer when one of at
 * least its high-water mark is on its way; it keeps a reference to a smaller one.
 */
async function* lasting(pieces: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) yield piece.length < copyPieceBytes ? Buffer.from(piece) : piece;
}

/** Statements that go ahead of a COPY in its message, which spares a round trip. */
export interface AheadOfCopy {
  readonly statements: readonly Query[];
  /** Gets the results of those that return rows when the server is ready for the COPY's bytes. What it throws ends the COPY. */
  readonly judge: (results: readonly QueryResult[]) => void;
}

/** What pg-copy-streams' types leave out. */
interface CopyMessages {
  handleCopyInResponse(connection: unknown): void;
}

/** A COPY whose message has statements ahead of it, and what their judge threw. */
const copyBehind = (statement: string, { statements, judge }: AheadOfCopy) => {
  const text = [...statements.map(inline), statement].join(';\n');
  const stream = copyFrom(text, { highWaterMark: copyPieceBytes }) as CopyStreamQuery & CopyMessages;
  const judged: { refusal?: { readonly error: unknown } } = {};
  const results = collectRows(stream);
  const begin = stream.handleCopyInResponse.bind(stream);
  stream.handleCopyInResponse = (connection) => {
    try {
      judge(results);
    } catch (error) {
      judged.refusal = { error };
      // Sends a CopyFail, for which the server rolls back.
      stream.destroy(error as Error);
    }
    begin(connection);
  };
  return { stream, judged };
};

const nothingAhead: AheadOfCopy = { statements: [], judge: () => undefined };

/**
 * Runs one COPY … FROM STDIN with these bytes and returns the number of rows the server took.
 *
 * Backpressure comes from the socket: the next bytes are asked for when the last ones are on their way, or copied, so that
 * a piece's memory may be used again then (test/integration/copy-in.test.ts). The first bytes are asked for at once, while the server
 * answers what is ahead of the COPY. When `bytes` or the judge throws, the server gets a CopyFail, the transaction is to be rolled back,
 * and the error is passed on.
 */
export const copyIn = async (
  client: Client,
  statement: string,
  bytes: AsyncGenerator<Buffer, void>,
  signal?: AbortSignal,
  ahead: AheadOfCopy = nothingAhead,
): Promise<number> => {
  const { stream, judged } = copyBehind(statement, ahead);
  try {
    await pipeline(lasting(bytes), client.query(stream), { signal });
    return stream.rowCount ?? 0;
  } catch (error) {
    throw judged.refusal === undefined ? error : judged.refusal.error;
  } finally {
    // When the server refuses, the next piece may be in the making: nobody counts it after the error.
    await bytes.return();
  }
};
