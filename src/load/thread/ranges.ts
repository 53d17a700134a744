// Reads several ranges of a stream, which is read once.

/** `reads` begins at byte `at`. Each range must be read to its end before the next range. */
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
