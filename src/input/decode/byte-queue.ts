// Takes bytes of a compressed stream in any portions, and knows their offset in the file.

import { CorruptBytes } from './contract.ts';

export interface ByteQueue {
  readonly at: () => number;
  /** Returns the next bytes, which remain valid. Undefined if the stream has fewer bytes. */
  readonly take: (bytes: number) => Promise<Buffer | undefined>;
  /** Like `take`, for bytes that must follow. Errors: CorruptBytes. */
  readonly demand: (bytes: number) => Promise<Buffer>;
  readonly skip: (bytes: number) => Promise<boolean>;
  /** Returns all bytes that were read but not taken. */
  readonly peek: () => Buffer;
  /** Takes the bytes that `peek` returns, or else the next block. Undefined at the end. */
  readonly takeBlock: () => Promise<Buffer | undefined>;
  readonly giveBack: (bytes: Buffer) => void;
  /** Number of bytes read but not taken. After a failed take, all remaining bytes are read. */
  readonly left: () => number;
  readonly cutOff: () => CorruptBytes;
}

export const queueBytes = (stream: AsyncIterator<Buffer>, name: string): ByteQueue => {
  // Pieces are joined only when taken, because a slow connection yields many small pieces.
  let pieces: Buffer[] = [];
  let waiting = 0;
  let at = 0;
  /** Reads and copies a piece, because the stream may reuse its memory. False at the end. */
  const readMore = async (): Promise<boolean> => {
    const { done, value } = await stream.next();
    if (done === true) return false;
    pieces.push(Buffer.from(value));
    waiting += value.length;
    return true;
  };
  const peek = (): Buffer => {
    if (pieces.length !== 1) pieces = [Buffer.concat(pieces)];
    return pieces[0]!;
  };
  const move = (bytes: number): Buffer => {
    const all = peek();
    pieces = [all.subarray(bytes)];
    waiting = pieces[0]!.length;
    at += all.length - waiting;
    return all.subarray(0, bytes);
  };
  const take = async (bytes: number): Promise<Buffer | undefined> => {
    while (waiting < bytes) if (!(await readMore())) return undefined;
    return move(bytes);
  };
  const cutOff = (): CorruptBytes =>
    new CorruptBytes(`it ends in the middle of its ${name} data`, at + waiting);
  return {
    at: () => at,
    take,
    demand: async (bytes) => {
      const taken = await take(bytes);
      if (taken === undefined) throw cutOff();
      return taken;
    },
    skip: async (bytes) => {
      let left = bytes - move(bytes).length;
      while (left > 0) {
        if (!(await readMore())) return false;
        left -= move(left).length;
      }
      return true;
    },
    peek,
    takeBlock: async () => (waiting > 0 || (await readMore()) ? move(Infinity) : undefined),
    giveBack: (bytes) => {
      pieces.unshift(bytes);
      waiting += bytes.length;
      at -= bytes.length;
    },
    left: () => waiting,
    cutOff,
  };
};
