// The interface of decoders: records in, bytes for COPY and rejects out.

import type { Counts, Reject } from '../../core/model.ts';
import type { RecordBlock } from '../records/record-blocks.ts';

export interface DecodedBlock {
  readonly copyBytes: Buffer;
  readonly counts: Counts;
  readonly rejects: readonly Reject[];
}

export type Decoder = (block: RecordBlock) => DecodedBlock;

/** Writes a row in COPY's text format. A parameter, because decoders do not import load/. */
export type RowEncoder = (values: readonly (string | null)[]) => string;
