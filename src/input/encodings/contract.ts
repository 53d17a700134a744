// The interface of encodings, which convert bytes to UTF-8.

/** Converts blocks to UTF-8. A result may be overwritten by the second `write` after it. */
export interface Transcoder {
  readonly write: (block: Buffer) => Buffer;
  readonly end: () => Buffer;
}

/** Written for invalid characters. UTF-8 never has this byte, so the record is rejected. */
export const invalidByte = 0xff;
