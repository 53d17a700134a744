// Interfaces of decodings, which decompress a stream, and of archives, whose members are files.

import type { MemberPart } from '../../core/model.ts';

export class CorruptBytes extends Error {
  readonly byte: number;

  constructor(problem: string, byte: number, options?: ErrorOptions) {
    super(problem, options);
    this.byte = byte;
  }
}

export interface Decoding {
  /** Name in the ledger. */
  readonly name: string;
  readonly matches: (head: Buffer) => boolean;
  /** Suffix of file names, in lower case. Only for formats without a magic number. */
  readonly extension?: string;
  /** The memory of a block is reused when the second block after it is requested. */
  readonly decode: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
}

export interface ArchiveBytes {
  readonly bytes: number;
  readonly read: (start: number, end: number) => AsyncIterable<Buffer>;
}

export interface Member {
  readonly name: string;
  readonly bytes: number;
  readonly refusal?: { readonly problem: string; readonly hint: string };
  readonly locate: () => Promise<MemberPart>;
}

/** The archive is damaged, or its members overlap. */
export class UnreadableArchive extends Error {}

export interface Container {
  readonly name: string;
  readonly matches: (head: Buffer) => boolean;
  /** Lists files, not directories, by offset. Errors: UnreadableArchive, those of `read`. */
  readonly members: (archive: ArchiveBytes) => Promise<readonly Member[]>;
  readonly decode: (bytes: AsyncIterable<Buffer>, part: MemberPart) => AsyncIterable<Buffer>;
}
