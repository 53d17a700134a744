// The missing ranges: the data of each file minus the chunks that are in staging. Pure.

import type { Position, Segment, SourceFile } from '../../core/model.ts';
import type { LoadedChunkRow } from './ledger.ts';

/** Gaps of one file, given its chunks in order. A chunk's end position says where a gap after it begins. */
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

/** Every missing range of a run, in file order. Linear: a run may have as many chunks as it has files, and those by the thousand. */
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
