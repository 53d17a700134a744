// Takes a stream's bytes in pieces of a requested length.

/** Bytes of a stream that were read and not yet taken. */
export interface ByteQueue {
  /** Offset of the next byte in the stream. */
  readonly at: () => number;
  /** Takes the next bytes; undefined if the stream has fewer. Their memory is not reused. */
  readonly take: (bytes: number) => Promise<Buffer | undefined>;
  /** Drops the next bytes; false if the stream has fewer. */
  readonly skip: (bytes: number) => Promise<boolean>;
  /** Bytes that were read and not taken: after a failed take, all that the stream has left. */
  readonly left: () => number;
}

export const queueBytes = (stream: AsyncIterator<Buffer>): ByteQueue => {
  // Pieces are joined only when taken, because a slow connection yields many small ones.
  let pieces: Buffer[] = [];
  let waiting = 0;
  let at = 0;
  /** Reads another piece; false at the end. Copies it, because the stream may reuse its memory. */
  const readMore = async (): Promise<boolean> => {
    const { done, value } = await stream.next();
    if (done === true) return false;
    pieces.push(Buffer.from(value));
    waiting += value.length;
    return true;
  };
  const move = (bytes: number): Buffer => {
    const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    pieces = [all.subarray(bytes)];
    waiting = pieces[0]!.length;
    at += all.length - waiting;
    return all.subarray(0, bytes);
  };
  return {
    at: () => at,
    take: async (bytes) => {
      while (waiting < bytes) if (!(await readMore())) return undefined;
      return move(bytes);
    },
    skip: async (bytes) => {
      let left = bytes - move(bytes).length;
      while (left > 0) {
        if (!(await readMore())) return false;
        left -= move(left).length;
      }
      return true;
    },
    left: () => waiting,
  };
};
