// Plans a table's files and reads them as a run does, from their source to decoded rows, without a server.

import { tableOfFile, type PipelineSpec, type ReadTable } from '../../../src/core/declaration.ts';
import { openInput } from '../../../src/input/input.ts';
import { planSources } from '../../../src/run/files/plan-sources.ts';
import { openSegment } from '../../../src/load/chunk/block-source.ts';
import { blocksOfPiece, streamPieces } from '../../../src/load/chunk/pieces.ts';
import { createSplitter } from '../../../src/format/records/splitter.ts';
import { recordBlocks, type RecordBlock } from '../../../src/format/records/record-blocks.ts';
import type { SourceFile } from '../../../src/core/model.ts';

export interface PlannedFile {
  readonly table: ReadTable;
  readonly file: SourceFile;
}

/** The only file of a table with this one reading, as a run plans it. */
export const planFile = async ({ source, format, ...rest }: ReadTable): Promise<PlannedFile> => {
  const table = { ...rest, readings: [{ source, format }] };
  const spec = { tables: [table], params: {} } as unknown as PipelineSpec;
  const [planned] = await planSources(spec, { workingDirectory: '/' });
  const file = { ...planned!.files[0]!, id: 1, runId: 1, runStarted: '2026-01-01 00:00:00+00' };
  return { table: tableOfFile(table, file), file };
};

/** The blocks of a file, as its only segment gives them. The memory of one is used again for the next. */
export const segmentBlocks = ({ table, file }: PlannedFile): AsyncIterable<RecordBlock> => {
  const { source: declared, format } = table;
  const start = { byte: file.dataByte, line: file.dataLine, record: 1 };
  const splitter = createSplitter(format.dialect, file.header.length, file.lineEnd);
  return openSegment({
    file,
    access: { declared },
    start,
    byteEnd: file.dataEnd,
    splitter,
    chunkBytes: 1024 * 1024,
  }).from(start);
};

/** The bytes of a file's records, in reads of so many bytes; the position where they begin. */
export const recordReads = ({ table, file }: PlannedFile, blockBytes: number) => ({
  start: { byte: file.dataByte, line: file.dataLine, record: 1 },
  reads: openInput(file, { declared: table.source }, file.dataByte, file.dataEnd ?? undefined, {
    blockBytes,
  }),
});

/** The blocks of a file that is no plain local one, as a reading thread gives them to all workers: in pieces of so many bytes. */
export async function* pieceBlocks(
  { table, file }: PlannedFile,
  pieceBytes: number,
): AsyncGenerator<RecordBlock, void> {
  const { source: declared, format } = table;
  const start = { byte: file.dataByte, line: file.dataLine, record: 1 };
  const split = createSplitter(format.dialect, file.header.length, file.lineEnd);
  const blocks = recordBlocks(openInput(file, { declared }, start.byte), start, split);
  const range = { blocks, start, byteEnd: null, pieceBytes };
  for await (const piece of streamPieces(range, async () => new SharedArrayBuffer(pieceBytes)))
    yield* blocksOfPiece(piece);
}
