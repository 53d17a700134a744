// The interface of encodings, which convert bytes to UTF-8.

/** A result may be overwritten when the second block after it is written. */
export interface Transcoder {
  readonly write: (block: Buffer) => Buffer;
  readonly end: () => Buffer;
}

/** UTF-8 never has this byte, so the record is rejected. Line ends after it stay line ends. */
export const invalidByte = 0xff;
