// The interface of sources: a source lists files, tells which version of a file exists, and reads
// it.

import type { SourceSpec } from '../../core/declaration.ts';

/** A file in a listing. */
export interface Listed {
  /**
   * Absolute path or URL by which any process finds the file. It goes into the ledger: no secrets.
   */
  readonly location: string;
  /** Name for people. */
  readonly name: string;
  /** What the listing tells about the version, for `isVersion`. */
  readonly version?: string;
}

/** Locations of a table that belong to one source. */
export interface Listing {
  readonly table: string;
  readonly locations: readonly string[];
  readonly workingDirectory: string;
  /**
   * By location made from parameters, the `others` of its VariedPath: a parameter must not lead out
   * of the directory or host that the author wrote.
   */
  readonly varied?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** A version of a file. Equal fingerprints mean equal content. */
export interface FileVersion {
  /** Stored size; 0 if the server does not tell. Always right if the source is seekable. */
  readonly bytes: number;
  readonly fingerprint: string;
}

/** What `look` finds out about a file. */
export interface Look extends FileVersion {
  /** The first stored bytes, which tell compression and encoding. */
  readonly head: Buffer;
}

/** A version that was loaded. */
export interface SeenVersion extends Pick<FileVersion, 'fingerprint'> {
  /** A time shortly before the file was looked at for the last time. */
  readonly seenAt: Date;
}

/** A listed file, and the table that errors name. */
export interface NamedFile extends Listed {
  readonly table: string;
}

/** A file whose version is known. */
export interface KnownFile extends NamedFile, FileVersion {}

/** What a source needs to reach files. */
export interface Access {
  /** The table's declaration. Secrets in it are names of environment variables. */
  readonly declared: SourceSpec;
  /** Ends all waiting; the signal's reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** A rule for an option's value. `must` completes the sentence 'the option must be …'. */
export interface OptionRule {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

export interface Source {
  /** Name in the ledger. */
  readonly name: string;
  /** True if a location belongs to this source. */
  readonly matches: (location: string) => boolean;
  /**
   * What is wrong with a location, as the end of a sentence without secrets; undefined: nothing.
   */
  readonly problem: (location: string) => string | undefined;
  /** Options of csv() for this source. */
  readonly options: Readonly<Record<string, OptionRule>>;
  /** Lists files in a fixed order, each once. Errors: ETL_SOURCE_NOT_FOUND and others. */
  readonly list: (listing: Listing, access: Access) => AsyncIterable<Listed>;
  /** True if a listed `version` is the version that was loaded; undefined: only `look` tells. */
  readonly isVersion?: (version: string, seen: SeenVersion) => boolean;
  /** The part of a fingerprint that moves with the file, and no other file has; undefined: none. */
  readonly identityOf?: (fingerprint: string) => string | undefined;
  /** The part of a fingerprint that copies of the file have, too; undefined: none. */
  readonly contentOf?: (fingerprint: string) => string | undefined;
  /** Finds a file's version and first bytes. ENOENT and ETL_SOURCE_GONE mean: the file is gone. */
  readonly look: (file: NamedFile, access: Access) => Promise<Look>;
  /** True if opening at any byte is cheap: such files are cut into segments. */
  readonly isSeekable: boolean;
  /** True if other processes find the same files at the same locations. */
  readonly isShared: boolean;
  /**
   * Yields the bytes [start, end) of a file, fewer if it is shorter, in blocks of at most
   * `blockBytes`. The memory of a block is reused when the second block after it is requested.
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
