// Finds the line of a row that was copied, by reading the file again from the start of the row's
// chunk.

import { tableOfFile, type SourceTableSpec } from '../core/declaration/declaration.ts';
import { sliceBlock } from '../format/split/record-slice.ts';
import type { Position, SourceFile } from '../core/model.ts';
import { openSegment } from '../load/chunk/block-source.ts';
import { createFileReader } from '../load/chunk/file-reader.ts';

/** A row of a chunk. `ordinal` counts the rows that the chunk copied, from 1. */
export interface RowOfChunk {
  readonly file: SourceFile;
  readonly start: Position;
  readonly byteEnd: number;
  readonly ordinal: number;
}

/** Returns the line; undefined if the chunk has fewer rows. Errors: those of the file's source. */
export const lineOfRow = async (
  declared: SourceTableSpec,
  { file, start, byteEnd, ordinal }: RowOfChunk,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const table = tableOfFile(declared, file);
  const { splitter, decode } = createFileReader(file, table, [], '');
  const access = { declared: table.source, signal };
  const chunkBytes = byteEnd - start.byte;
  const source = openSegment({ file, access, start, byteEnd, splitter, chunkBytes });
  let copied = 0;
  try {
    for await (const block of source.from(start)) {
      const inBlock = decode(block).counts.copied;
      if (copied + inBlock < ordinal) {
        copied += inBlock;
        continue;
      }
      for (const place of block.spans.starts.keys()) {
        const record = sliceBlock(block, place, place + 1);
        copied += decode(record).counts.copied;
        if (copied === ordinal) return record.position.line;
      }
    }
  } finally {
    await source.close();
  }
  return undefined;
};
