// Interfaces of decodings, which decompress a stream, and of archives, whose members are files.

import type { MemberPart } from '../../core/model.ts';

export class CorruptBytes extends Error {
  /** Offset in the stored file at which the damage was found. */
  readonly byte: number;

  constructor(problem: string, byte: number, options?: ErrorOptions) {
    super(problem, options);
    this.byte = byte;
  }
}

export interface Decoding {
  /** Name in the ledger. */
  readonly name: string;
  /** True if a file that begins with these bytes is compressed in this way. */
  readonly matches: (head: Buffer) => boolean;
  /** End of file names, in lower case, if first bytes do not tell. */
  readonly extension?: string;
  /**
   * Yields decompressed blocks. The memory of a block is reused when the second block after it is
   * requested. Errors: CorruptBytes.
   */
  readonly decode: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
}

/** An archive that can be read from any byte. */
export interface ArchiveBytes {
  readonly bytes: number;
  /** Yields the bytes [start, end) in blocks whose memory may be reused. */
  readonly read: (start: number, end: number) => AsyncIterable<Buffer>;
}

export interface Member {
  readonly name: string;
  /** Compressed size. */
  readonly bytes: number;
  /** Present if the member cannot be read: why not, and what to do. */
  readonly refusal?: { readonly problem: string; readonly hint: string };
  /** Errors: UnreadableArchive. */
  readonly locate: () => Promise<MemberPart>;
}

/** The archive is damaged, or its members overlap. */
export class UnreadableArchive extends Error {}

export interface Container {
  /** Name in the ledger, as the decoding of members. */
  readonly name: string;
  readonly matches: (head: Buffer) => boolean;
  /** Files by offset, without directories. Errors: UnreadableArchive, those of `read`. */
  readonly members: (archive: ArchiveBytes) => Promise<readonly Member[]>;
  /** Decompresses a member from its bytes [start, end), as Decoding.decode does. */
  readonly decode: (bytes: AsyncIterable<Buffer>, part: MemberPart) => AsyncIterable<Buffer>;
}
