// The contract of decoders: blocks of records in, bytes for COPY out, rejects beside them.

import type { Counts, Reject } from '../../core/model.ts';
import type { RecordBlock } from '../split/record-blocks.ts';

/** The outcome of one block's records. */
export interface DecodedBlock {
  /** Rows in the format that the decoder's COPY statement names. Valid until the decoder is called again. */
  readonly copyBytes: Buffer;
  readonly counts: Counts;
  readonly rejects: readonly Reject[];
}

export type Decoder = (block: RecordBlock) => DecodedBlock;

/** Turns the values of a row into bytes of COPY; from copy/, which decoders do not import. */
export type RowEncoder = (values: readonly (string | null)[]) => string;
