// The interface of loaders, which load segments.

import type { Counts, Segment, SourceFile } from '../../core/model.ts';
import type { Stops } from '../../core/stop.ts';
import type { LoadedChunk } from '../../report/run-trace.ts';
import type { Piece } from './pieces.ts';

export interface FileSegment extends Omit<Segment, 'fileId'> {
  readonly file: SourceFile;
  readonly piece?: Piece | undefined;
}

/** Gets the progress of a segment. An error that one of its functions throws ends the segment. */
export interface LoadListener {
  /** Called with decoded bytes and records; with negative numbers if a chunk is rolled back. */
  readonly decoded: (bytes: number, counts: Counts) => void;
  readonly chunk: (chunk: LoadedChunk) => void;
  /** Called with the byte where the file probably ends, if its end was unknown. */
  readonly fileEnd: (byte: number) => void;
}

export interface Loader {
  readonly load: (segment: FileSegment, listener: LoadListener, stops: Stops) => Promise<void>;
  readonly close: () => Promise<void>;
}
