// What a decoding is: bytes to bytes, from the first on. Files that have one are read as a stream.

/** The bytes are not what their first ones promise. */
export class CorruptBytes extends Error {
  /** Of the stored file, where it was found; undefined when that is not known. */
  readonly byte: number;

  constructor(problem: string, byte: number, options?: ErrorOptions) {
    super(problem, options);
    this.byte = byte;
  }
}

export interface Decoding {
  /** In the ledger. */
  readonly name: string;
  /** Whether a file that begins with these bytes is encoded so. */
  readonly matches: (head: Buffer) => boolean;
  /** Of files that no first bytes tell: with it their names end, in lower case. */
  readonly extension?: string;
  /** The decoded bytes, in memory of their own. Reading stops when nobody asks any more. Errors: CorruptBytes. */
  readonly decode: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
}
