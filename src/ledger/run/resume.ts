// Computes the ranges still to load: the data of each file minus the chunks in staging.

import type { Position, Segment, SourceFile } from '../../core/model.ts';
import type { LoadedChunkRow } from './ledger.ts';

const missingOf = (file: SourceFile, chunks: readonly LoadedChunkRow[]): readonly Segment[] => {
  const missing: Segment[] = [];
  let at: Position = { byte: file.dataByte, line: file.dataLine, record: 1 };
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
  return files.flatMap((file) => missingOf(file, chunksOf.get(file.id) ?? []));
};
