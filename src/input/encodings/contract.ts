// What an encoding is: bytes that become UTF-8, block by block.

/** One file on its way into UTF-8. What it gives stays valid until the second block after it is written. */
export interface Transcoder {
  readonly write: (block: Buffer) => Buffer;
  /** What is left when the file ends. */
  readonly end: () => Buffer;
}

/**
 * Takes the place of what is no character of the encoding: no text in UTF-8 holds this byte, so the record is rejected as
 * others with wrong bytes are. It takes no line end with it.
 */
export const invalidByte = 0xff;

const replacement = Buffer.from('\ufffd');

/** The text in UTF-8; each U+FFFD, which a decoder writes for what is no character, is the invalid byte. */
export const markedUtf8 = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  let from = bytes.indexOf(replacement);
  if (from === -1) return bytes;
  let to = from;
  while (from !== -1) {
    bytes[to] = invalidByte;
    from += replacement.length;
    const next = bytes.indexOf(replacement, from);
    bytes.copyWithin(to + 1, from, next === -1 ? bytes.length : next);
    to += 1 + (next === -1 ? bytes.length : next) - from;
    from = next;
  }
  return bytes.subarray(0, to);
};
