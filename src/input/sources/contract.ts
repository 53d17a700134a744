// What a source is: a place where files are. It lists them, says which version each is, and gives their bytes.

import type { SourceSpec } from '../../core/declaration/declaration.ts';

/** A file as its source lists it. */
export interface Listed {
  /** By what the source finds the file again, also in another process: an absolute path. The ledger has it, so it holds no secret. */
  readonly location: string;
  /** What people see. */
  readonly name: string;
  /** What the listing alone tells of its version, for `isVersion`. */
  readonly version?: string;
}

/** The locations that a table names, of one source. */
export interface Listing {
  readonly table: string;
  readonly locations: readonly string[];
  readonly workingDirectory: string;
  /** Locations that parameters are part of, each as a `VariedPath` has its others: a parameter must not lead out of what the author wrote. */
  readonly varied?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** What a file looked like. Two equal fingerprints are taken for the same content. */
export interface FileState {
  /** As it is stored; 0 where the place does not say. Exact if the source is seekable. */
  readonly bytes: number;
  readonly fingerprint: string;
}

/** A version that was loaded. */
export interface SeenVersion extends Pick<FileState, 'fingerprint'> {
  /** A time before the file was last looked at. */
  readonly seenAt: Date;
}

/** A file, and as whose errors name it. */
export interface NamedFile extends Listed {
  readonly table: string;
}

/** A file that was looked at, in this process or in another one. */
export interface KnownFile extends NamedFile, FileState {}

/** With what a source reaches files. */
export interface Access {
  /** What the table declares, in every process: secrets in it are names of environment variables. */
  readonly declared: SourceSpec;
  /** Ends whatever is waited for: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** What the value of an option must be, and whether it is. */
export interface OptionRule {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

export interface Source {
  /** In the ledger. */
  readonly name: string;
  /** Whether a location is one of this source. */
  readonly matches: (location: string) => boolean;
  /** What is wrong with a location by itself, as the end of a sentence. It is not repeated: it may hold a secret. */
  readonly problem: (location: string) => string | undefined;
  /** The options of csv() that it takes. */
  readonly options: Readonly<Record<string, OptionRule>>;
  /** In a fixed order, each file once. Errors: ETL_SOURCE_NOT_FOUND and others of src/core/errors/catalogue/source.ts. */
  readonly list: (listing: Listing, access: Access) => AsyncIterable<Listed>;
  /** Whether a listed file with a `version` is this one, without opening it; undefined: only a look tells. */
  readonly isVersion?: (version: string, seen: SeenVersion) => boolean;
  /** What of a fingerprint the file keeps when it is moved, and no other file has; undefined: it does not say. */
  readonly identityOf?: (fingerprint: string) => string | undefined;
  /** What of a fingerprint copies of the file have, too; undefined: it does not say. */
  readonly contentOf?: (fingerprint: string) => string | undefined;
  /** Also its first bytes, which tell how it is encoded. Throws the errors of the place; ENOENT and ETL_SOURCE_GONE: it is gone. */
  readonly look: (file: NamedFile, access: Access) => Promise<FileState & { readonly head: Buffer }>;
  /** Cheap to open anywhere: such files are cut into segments, and read again where they were read. */
  readonly isSeekable: boolean;
  /** Other processes find the same bytes under its locations. */
  readonly isShared: boolean;
  /**
   * The bytes [start, end) of a file in blocks of at most `blockBytes`; fewer when it is shorter. The memory of a block holds
   * until the second block after it is asked for.
   * Errors: ETL_SOURCE_UNREADABLE; ETL_SOURCE_CHANGED, where the place can tell that it has another version by now.
   */
  readonly open: (
    file: KnownFile,
    access: Access,
    start: number,
    end: number,
    blockBytes?: number,
  ) => AsyncIterable<Buffer>;
}
