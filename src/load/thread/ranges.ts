// Ranges of a stream that is read once, one after the other.

/**
 * Returns a function that gives the bytes [from, to) of a stream that begins at byte `at`; what lies between two ranges is passed over.
 * A range must be read to its end before the next one. It is shorter when the stream is.
 */
export const rangesOf = (
  reads: AsyncIterable<Buffer>,
  at: number,
): ((from: number, to: number) => AsyncGenerator<Buffer, void>) => {
  const iterator = reads[Symbol.asyncIterator]();
  let read: Buffer = Buffer.alloc(0);
  let begins = at;
  return async function* range(from, to) {
    for (;;) {
      const bytes = read.subarray(Math.max(0, from - begins), Math.max(0, to - begins));
      if (bytes.length > 0) yield bytes;
      if (begins + read.length >= to) return;
      const next = await iterator.next();
      if (next.done === true) return;
      begins += read.length;
      read = next.value;
    }
  };
};
