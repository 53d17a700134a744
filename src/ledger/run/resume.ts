// Computes the ranges still to load: the data of each file minus the chunks in staging.

import type { Position, Segment, SourceFile } from '../../core/model.ts';
import type { LoadedChunkRow } from './ledger.ts';

const missingOf = (
  file: SourceFile,
  first: Position,
  chunks: readonly LoadedChunkRow[],
): readonly Segment[] => {
  const missing: Segment[] = [];
  let at = first;
  for (const { start, end } of chunks) {
    if (start > at.byte) missing.push({ fileId: file.id, start: at, byteEnd: start });
    if (end.byte > at.byte) at = end;
  }
  const { id: fileId, dataEnd: byteEnd } = file;
  if (byteEnd === null || at.byte < byteEnd) missing.push({ fileId, start: at, byteEnd });
  return missing;
};

/** Returns ranges in file order, in linear time. */
export const missingSegments = (
  files: readonly SourceFile[],
  chunks: readonly LoadedChunkRow[],
): readonly Segment[] => {
  const chunksOf = new Map<number, LoadedChunkRow[]>();
  for (const chunk of chunks) {
    const known = chunksOf.get(chunk.fileId);
    if (known === undefined) chunksOf.set(chunk.fileId, [chunk]);
    else known.push(chunk);
  }
  // Files of one table usually have the same header: their data begins at one position, kept once.
  let first: Position = { byte: 0, line: 1, record: 1 };
  return files.flatMap((file) => {
    const { id, dataByte: byte, dataLine: line } = file;
    if (byte !== first.byte || line !== first.line) first = { byte, line, record: 1 };
    return missingOf(file, first, chunksOf.get(id) ?? []);
  });
};
