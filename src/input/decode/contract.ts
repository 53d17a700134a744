// What a decoding is: bytes to bytes, from the first on; and what an archive is, whose members are files. Either is read as a stream.

import type { MemberPart } from '../../core/model.ts';

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
  /** The decoded bytes, in blocks that stay valid until the second one after them is requested. Reading stops when nobody asks any more. Errors: CorruptBytes. */
  readonly decode: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
}

/** Bytes of an archive, from anywhere. */
export interface ArchiveBytes {
  readonly bytes: number;
  /** Their memory may be used again. */
  readonly read: (start: number, end: number) => AsyncIterable<Buffer>;
}

/** A file in an archive. */
export interface Member {
  readonly name: string;
  /** As it is stored. */
  readonly bytes: number;
  /** Why it cannot be read, and what to do. */
  readonly refusal?: { readonly problem: string; readonly hint: string };
  /** Errors: UnreadableArchive. */
  readonly locate: () => Promise<MemberPart>;
}

/** The archive is not what its first bytes promise. */
export class UnreadableArchive extends Error {}

export interface Container {
  /** In the ledger, as the decoding of its members. */
  readonly name: string;
  readonly matches: (head: Buffer) => boolean;
  /** Its files, in the order of their bytes, without directories. No two share a byte. Errors: UnreadableArchive; those of reading. */
  readonly members: (archive: ArchiveBytes) => Promise<readonly Member[]>;
  /** A member from the bytes [start, end) of its part, as a decoding does it. */
  readonly decode: (bytes: AsyncIterable<Buffer>, part: MemberPart) => AsyncIterable<Buffer>;
}
