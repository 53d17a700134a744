import { pipeline } from 'node:stream/promises';
import { from as copyFrom, type CopyStreamQuery } from 'pg-copy-streams';
import type { Client, QueryResult } from '../../db/client.ts';
import { collectRows } from '../../db/connect/pg.ts';
import { inline, type Query } from '../../db/sql.ts';
import { copyPieceBytes } from '../../core/limits.ts';

/**
 * Copies small buffers, because the stream keeps references to them while the caller reuses their
 * memory. The stream sends a large buffer before it asks for the next buffer.
 */
async function* lasting(pieces: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) yield piece.length < copyPieceBytes ? Buffer.from(piece) : piece;
}

/** Statements sent before a COPY in the same message, which spares a round trip. */
export interface AheadOfCopy {
  readonly statements: readonly Query[];
  /** Gets the statements' results before the COPY's bytes are sent; an error ends the COPY. */
  readonly judge: (results: readonly QueryResult[]) => void;
}

/** A method that the types of pg-copy-streams leave out. */
interface CopyMessages {
  handleCopyInResponse(connection: unknown): void;
}

/** `judged` gets the error that `judge` throws. */
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
      // Sends a CopyFail: the server then rolls back.
      stream.destroy(error as Error);
    }
    begin(connection);
  };
  return { stream, judged };
};

const nothingAhead: AheadOfCopy = { statements: [], judge: () => undefined };

/**
 * Runs one COPY … FROM STDIN, and returns the number of rows that the server took.
 *
 * The memory of a buffer may be reused when the next buffer is requested. Proved by
 * test/integration/copy-in.test.ts. If `bytes` or `judge` throws, the server gets a CopyFail, and
 * the caller rolls back.
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
    // If the server refuses, the next buffer may be half made: its records must not be counted.
    await bytes.return();
  }
};
