// The bytes of a stream by number: as many as are asked for, from the first on.

/** What was read of a stream and not yet taken. */
export interface ByteQueue {
  /** Of the next byte, from 0. */
  readonly at: () => number;
  /** The next `bytes` bytes, or undefined when there are fewer. They are taken, and their memory is never used again. */
  readonly take: (bytes: number) => Promise<Buffer | undefined>;
  /** Takes so many bytes without keeping them; false when there are fewer. */
  readonly skip: (bytes: number) => Promise<boolean>;
  /** How many bytes are left when they are fewer than can be taken. */
  readonly left: () => number;
}

export const queueBytes = (stream: AsyncIterator<Buffer>): ByteQueue => {
  // Joined only when they are taken: a slow connection gives many small ones.
  let pieces: Buffer[] = [];
  let waiting = 0;
  let at = 0;
  /** Whether there was something more. The stream may use its memory again, so that it is copied. */
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
