// The interface of sources: a source lists files, finds their versions, and reads them.

import type { SourceSpec } from '../../core/declaration.ts';
import type { EtlError } from '../../core/errors/errors.ts';

export interface Listed {
  /** Absolute path or URL that works in any process. Without secrets: the ledger stores it. */
  readonly location: string;
  readonly name: string;
  readonly version?: string;
  /** Why the file cannot be read. It is listed nevertheless, because it need not stop the others. */
  readonly refusal?: EtlError;
}

export interface Listing {
  readonly table: string;
  readonly locations: readonly string[];
  readonly workingDirectory: string;
  /** Locations made from parameters, which must not lead out of the author's directory or host. */
  readonly varied?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** Equal fingerprints mean equal content. */
export interface FileVersion {
  /** Stored size; 0 if the server does not tell. Always right if the source is seekable. */
  readonly bytes: number;
  readonly fingerprint: string;
}

export interface Look extends FileVersion {
  readonly head: Buffer;
  /** The last byte, if the source has read it; undefined for an empty file, too. */
  readonly last?: number | undefined;
  /** Changes whenever the file is written or replaced, even if its times are restored. */
  readonly touched?: string;
}

export interface SeenVersion extends Pick<FileVersion, 'fingerprint'> {
  readonly seenAt: Date;
}

export interface NamedFile extends Listed {
  readonly table: string;
}

export interface KnownFile extends NamedFile, FileVersion {}

export interface Access {
  /** Secrets in the declaration are names of environment variables. */
  readonly declared: SourceSpec;
  readonly signal?: AbortSignal | undefined;
}

/** `must` completes the sentence 'the option must be …'. */
export interface OptionRule {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

export interface Source {
  readonly name: string;
  readonly matches: (location: string) => boolean;
  /** Says what is wrong with a location: the end of a sentence, without secrets. */
  readonly problem: (location: string) => string | undefined;
  readonly options: Readonly<Record<string, OptionRule>>;
  /** Lists files in a fixed order, each once. Errors: ETL_SOURCE_NOT_FOUND and others. */
  readonly list: (listing: Listing, access: Access) => AsyncIterable<Listed>;
  /** When a listed file was last written, in ms since 1970; absent: listed files are complete. */
  readonly writtenAt?: (version: string) => number;
  /** Compares a listed version with the loaded version. If absent, `look` reads each version. */
  readonly isVersion?: (version: string, seen: SeenVersion) => boolean;
  /** Returns the part of a fingerprint that a moved file keeps, and that no other file has. */
  readonly identityOf?: (fingerprint: string) => string | undefined;
  /** Returns the part of a fingerprint that copies of the file have, too. */
  readonly contentOf?: (fingerprint: string) => string | undefined;
  /** Reads a file's version and first bytes. ENOENT or ETL_SOURCE_GONE: the file is gone. */
  readonly look: (file: NamedFile, access: Access) => Promise<Look>;
  /**
   * Returns why this host cannot read a file that another host has planned. If absent, `open`
   * notices another version.
   */
  readonly problemHere?: (file: Pick<KnownFile, 'location' | 'fingerprint'>) => Promise<string | undefined>;
  /** True if opening at any byte is cheap: such files are cut into segments. */
  readonly isSeekable: boolean;
  /** True if other bytes are another file, not a new version: standard input has no name. */
  readonly isNameless?: true;
  /** True if other processes find the same files at the same locations. */
  readonly isShared: boolean;
  /**
   * Yields the bytes [start, end), fewer if the file is shorter, in blocks of at most `blockBytes`.
   * The memory of a block is reused when the second block after it is requested.
   * Errors: ETL_SOURCE_UNREADABLE; ETL_SOURCE_CHANGED if the source notices another version.
   */
  readonly open: (
    file: KnownFile,
    access: Access,
    start: number,
    end: number,
    blockBytes?: number,
  ) => AsyncIterable<Buffer>;
}
