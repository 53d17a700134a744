// A reading thread: it gives a stream in bounded memory, stops when it is asked to, and reports what went wrong.

import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import type { Counts } from '../../../../src/core/model.ts';
import { loadStream } from '../../../../src/load/thread/load-stream.ts';
import {
  createPieceMemory,
  readStream,
  type ReadPiece,
  type ReadSetup,
} from '../../../../src/load/thread/reader.ts';
import { createReadingThreads } from '../../../../src/load/thread/reading-threads.ts';
import { blocksOfPiece } from '../../../../src/load/chunk/pieces.ts';
import { failureOf } from '../../../helpers/failure.ts';
import { useFiles } from '../../../helpers/files.ts';
import { startOfFile as start, tableOf } from '../../format/records/reading.ts';
import { sourceFile } from '../chunk/source-file.ts';

const files = useFiles();
const content = Array.from({ length: 200_000 }, (_, line) => `${line},${line % 7}\n`).join('');
const zipped = gzipSync(content);
const pieceBytes = 100_000;
/** One thread reads all streams, unless one of them was stopped. */
const threads = createReadingThreads(1);
afterAll(threads.close);

const setupOf = (name: string, bytes: Buffer, gaps?: ReadSetup['gaps']): ReadSetup => {
  const { source, format } = tableOf({});
  const file = sourceFile(files.write(name, bytes), name, bytes, { decoding: 'gzip', dataEnd: null });
  const { dialect } = format;
  return { file, source, dialect, gaps: gaps ?? [{ fileId: 1, start, byteEnd: null }], pieceBytes };
};

/** Memory for two pieces, and how many were out at once at the most. */
const countedMemory = () => {
  const memory = createPieceMemory(2, pieceBytes);
  const count = { out: 0, most: 0 };
  return {
    count,
    take: async () => {
      const taken = await memory.take();
      count.out += 1;
      count.most = Math.max(count.most, count.out);
      return taken;
    },
    give: (taken: SharedArrayBuffer | undefined) => {
      count.out -= 1;
      memory.give(taken);
    },
  };
};

const never = new AbortController().signal;

/** The texts of all pieces, each of which is given back when the next one has come. */
const read = async (setup: ReadSetup, memory = countedMemory()): Promise<readonly string[]> => {
  const texts: string[] = [];
  let before: SharedArrayBuffer | undefined;
  for await (const { piece } of readStream(setup, memory, threads, never)) {
    texts.push(
      blocksOfPiece(piece)
        .map(({ bytes }) => bytes.toString())
        .join(''),
    );
    if (before !== undefined) memory.give(before);
    before = piece.memory;
  }
  return texts;
};

it('gives the whole stream in the memory that there is, and the gaps of it that are asked for', async () => {
  const memory = countedMemory();
  const texts = await read(setupOf('whole.csv', zipped), memory);
  expect(texts.join('')).toBe(content);
  expect(texts.length).toBeGreaterThan(10);
  expect(memory.count).toEqual({ out: 1, most: 2 });
  const at = (record: number) => ({ byte: content.indexOf(`\n${record - 1},`) + 1, line: record, record });
  const gaps = [
    { fileId: 1, start: at(20_001), byteEnd: at(20_003).byte },
    { fileId: 1, start: at(199_999), byteEnd: null },
  ];
  const some = await read(setupOf('some.csv', zipped, gaps));
  expect(some).toEqual(['20000,1\n20001,2\n', '199998,1\n199999,2\n']);
});

it('is passed over where its pieces are loaded already, but for the last one, whose end is to be recorded', async () => {
  const loaded: { start: number; end: number }[] = [];
  const memory = countedMemory();
  const stream = {
    setup: setupOf('again.csv', zipped),
    memory,
    threads,
    stops: { drain: undefined, leave: never, abort: undefined },
    load: async ({ piece }: ReadPiece): Promise<void> => {
      loaded.push({ start: piece.start.byte, end: piece.byteEnd ?? content.length });
    },
  };
  const passed: number[] = [];
  const onKnown = (bytes: number, { records }: Counts): void => void passed.push(bytes, records);
  await loadStream({ ...stream, known: [], onKnown });
  expect(loaded[0]).toMatchObject({ start: 0 });
  const first = [...loaded];
  const chunkOf = ({ start: at, end: byte }: (typeof first)[number]) => ({
    fileId: 1,
    start: at,
    end: { byte, line: 1, record: 1 },
    records: 7,
    copied: 7,
    rejected: 0,
    filtered: 0,
  });
  loaded.length = 0;
  // The third ended early, at its last allowed reject.
  const known = first.map((one, index) => chunkOf({ ...one, end: one.end - Number(index === 2) }));
  await loadStream({ ...stream, known, onKnown });
  expect(loaded).toEqual([first[2], first.at(-1)]);
  expect(passed).toHaveLength(2 * (first.length - 2));
  expect(passed.slice(0, 2)).toEqual([first[0]!.end, 7]);
  expect(memory.count.out).toBe(0);
});

it('stops when it is asked to, also while it waits for memory, and gives all of it back', async () => {
  const memory = countedMemory();
  const stop = new AbortController();
  const reason = new Error('stopped');
  const reading = readStream(setupOf('stopped.csv', zipped), memory, threads, stop.signal);
  const kept = [(await reading.next()).value!, (await reading.next()).value!];
  const third = reading.next().catch((error: unknown) => error);
  stop.abort(reason);
  expect(await third).toBe(reason);
  for (const { piece } of kept) memory.give(piece.memory);
  // Both are free again.
  await memory.take();
  await memory.take();
  expect(memory.count.most).toBe(2);
});

it('reports what is wrong with the stream after what came before it', async () => {
  const memory = countedMemory();
  const pieces: number[] = [];
  const reading = async (): Promise<void> => {
    for await (const { piece } of readStream(
      setupOf('cut.csv', zipped.subarray(0, -9_000)),
      memory,
      threads,
      never,
    )) {
      pieces.push(piece.start.byte);
      memory.give(piece.memory);
    }
  };
  expect(await failureOf(reading())).toMatchObject({
    code: 'ETL_SOURCE_CORRUPT',
    details: { file: 'cut.csv' },
  });
  expect(pieces.length).toBeGreaterThan(5);
  const shorter = [{ fileId: 1, start, byteEnd: content.length + 1 }];
  const error = await failureOf(read(setupOf('shorter.csv', zipped, shorter)));
  expect(error).toMatchObject({ code: 'ETL_SOURCE_CHANGED' });
});
