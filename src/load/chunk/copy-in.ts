// Sends bytes to the server as one COPY.

import { pipeline } from 'node:stream/promises';
import { from as copyFrom, type CopyStreamQuery } from 'pg-copy-streams';
import type { Client, QueryResult } from '../../db/client.ts';
import { collectRows } from '../../db/connect/pg.ts';
import { inline, type Query } from '../../db/sql.ts';
import { copyPieceBytes } from '../../core/limits.ts';

/** Copies small buffers, because the stream queues them while the caller reuses their memory. */
async function* lasting(pieces: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) yield piece.length < copyPieceBytes ? Buffer.from(piece) : piece;
}

/** `statements` are sent in the COPY's message: this spares a round trip. `judge` may throw. */
export interface AheadOfCopy {
  readonly statements: readonly Query[];
  readonly judge: (results: readonly QueryResult[]) => void;
}

interface CopyMessages {
  submit(connection: unknown): void;
  handleCopyInResponse(connection: unknown): void;
}

const copyBehind = (statement: string, { statements, judge }: AheadOfCopy) => {
  const text = [...statements.map(inline), statement].join(';\n');
  const stream = copyFrom(text, { highWaterMark: copyPieceBytes }) as CopyStreamQuery & CopyMessages;
  const judged: { refusal?: { readonly error: unknown } } = {};
  const results = collectRows(stream);
  const submit = stream.submit.bind(stream);
  const sendBytes = stream.handleCopyInResponse.bind(stream);
  stream.submit = (connection) => {
    submit(connection);
    // Without waiting for the server: it ignores the bytes if a statement has failed.
    sendBytes(connection);
  };
  stream.handleCopyInResponse = () => {
    try {
      judge(results);
    } catch (error) {
      judged.refusal = { error };
      // Sends a CopyFail, unless all bytes are sent. The caller rolls back.
      stream.destroy(error as Error);
    }
  };
  return { stream, judged };
};

const nothingAhead: AheadOfCopy = { statements: [], judge: () => undefined };

/**
 * Sends `bytes`, and returns the number of rows that the server stored. If `bytes` or `judge`
 * throws, the server gets a CopyFail, and the caller must roll back. The memory of a buffer may be
 * reused when the next buffer is requested. Proved by test/integration/copy-in.test.ts.
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
    // Stops the generator. If the server refused, it may be making a buffer that must not count.
    await bytes.return();
  }
};
