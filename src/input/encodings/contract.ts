// The interface of encodings, which convert bytes to UTF-8 block by block.

/** Converts one file. A result may be overwritten when the second block after it is written. */
export interface Transcoder {
  readonly write: (block: Buffer) => Buffer;
  /** Converts what is left at the end of the file. */
  readonly end: () => Buffer;
}

/**
 * Replaces bytes that are no character in their encoding. UTF-8 never has this byte, so the record
 * is rejected. Line ends after it stay line ends.
 */
export const invalidByte = 0xff;
