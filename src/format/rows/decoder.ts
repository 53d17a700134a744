// The interface of decoders: records in, bytes for COPY and rejects out.

import type { Counts, Reject } from '../../core/model.ts';
import type { RecordBlock } from '../records/record-blocks.ts';
import { sliceBlock } from '../records/record-slice.ts';

export interface DecodedBlock {
  readonly copyBytes: Buffer;
  readonly counts: Counts;
  readonly rejects: readonly Reject[];
}

export type Decoder = (block: RecordBlock) => DecodedBlock;

/**
 * Decodes a block, or only its beginning if there is no room for all of its rejects. Proved by
 * test/integration/reject-bounds.test.ts, "keeps no more than each worker may".
 */
export const decodeUpTo = (
  decode: Decoder,
  block: RecordBlock,
  rejectsMax: number,
): DecodedBlock & { readonly block: RecordBlock } => {
  const rows = decode(block);
  if (rows.rejects.length <= rejectsMax) return { ...rows, block };
  const last = rows.rejects[rejectsMax - 1]!.position.record;
  const part = sliceBlock(block, 0, last + 1 - block.position.record);
  return { ...decode(part), block: part };
};

/** Writes a row in COPY's text format. A parameter, because decoders do not import load/. */
export type RowEncoder = (values: readonly (string | null)[]) => string;
