// What loads segments, in a thread or in the main thread, and what it reports about them.

import type { Counts, Segment, SourceFile } from '../../core/model.ts';
import type { Stops } from '../../core/stop.ts';
import type { LoadedChunk } from '../../report/run-trace.ts';
import type { Piece } from './pieces.ts';

/** A segment with its file. */
export interface FileSegment extends Omit<Segment, 'fileId'> {
  readonly file: SourceFile;
  /** Set if the segment's bytes are in memory already. */
  readonly piece?: Piece | undefined;
}

/**
 * Receives the progress of a segment. An error that it throws ends the segment. A thread sends the
 * calls as data.
 */
export interface LoadListener {
  /** Called with decoded bytes and records; with negative numbers if a chunk is rolled back. */
  readonly decoded: (bytes: number, counts: Counts) => void;
  readonly chunk: (chunk: LoadedChunk) => void;
  /** Called with the byte where the file probably ends, if its end was unknown. */
  readonly fileEnd: (byte: number) => void;
}

/** Loads one segment at a time, over a connection of its own. */
export interface Loader {
  /** Loads a segment. Errors: those of loadChunk; the reason of the signal that stopped it. */
  readonly load: (segment: FileSegment, listener: LoadListener, stops: Stops) => Promise<void>;
  readonly close: () => Promise<void>;
}
