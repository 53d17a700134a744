// A reading thread: decodes streams and cuts them into pieces for all loaders of the process.

import { parentPort } from 'node:worker_threads';
import { EtlError } from '../../core/errors/errors.ts';
import { recordBlocks } from '../../format/records/record-blocks.ts';
import { createSplitter } from '../../format/records/splitter.ts';
import { openInput, type Meter } from '../../input/input.ts';
import { expectedEnd } from '../chunk/block-source.ts';
import { rangesOf } from './ranges.ts';
import { streamPieces } from '../chunk/pieces.ts';
import { plainError } from './plain-error.ts';
import type { FromReader, ReadSetup, ToReader } from './reader.ts';

const port = parentPort!;
const say = (message: FromReader): void => port.postMessage(message);

let waitedMs = 0;
let receive: (memory: SharedArrayBuffer) => void = () => undefined;

/** Waits until a loader gives the memory of a piece back. */
const take = async (): Promise<SharedArrayBuffer> => {
  const asked = performance.now();
  const given = new Promise<SharedArrayBuffer>((resolve) => (receive = resolve));
  say({ type: 'room' });
  const memory = await given;
  waitedMs += performance.now() - asked;
  return memory;
};

const read = async ({ file, source, dialect, gaps, pieceBytes }: ReadSetup): Promise<void> => {
  const meter: Meter = { stored: 0, decoded: 0 };
  const first = gaps[0]!.start.byte;
  const last = gaps.at(-1)!.byteEnd;
  const reads = openInput(file, { declared: source }, first, last ?? undefined, { meter });
  const range = rangesOf(reads, first);
  const splitter = createSplitter(dialect, file.header.length, file.lineEnd);
  let began = performance.now();
  for (const { start, byteEnd } of gaps) {
    const blocks = recordBlocks(range(start.byte, byteEnd ?? Infinity), start, splitter);
    const pieces = streamPieces({ blocks, start, byteEnd, pieceBytes }, take);
    let next = await pieces.next();
    for (; next.done !== true; next = await pieces.next()) {
      const now = performance.now();
      const end = last === null ? expectedEnd(file, meter) : undefined;
      say({ type: 'piece', piece: next.value, expectedEnd: end, readMs: now - began - waitedMs });
      began = now;
      waitedMs = 0;
    }
    if (byteEnd !== null && next.value.byte < byteEnd)
      throw new EtlError('ETL_SOURCE_CHANGED', { table: file.table, file: file.name });
  }
};

const serve = (setup: ReadSetup): Promise<void> =>
  read(setup).then(
    () => say({ type: 'end' }),
    (error: unknown) => say({ type: 'failed', error: plainError(error) }),
  );

port.on('message', (message: ToReader) => {
  if (message.type === 'memory') receive(message.memory);
  else void serve(message.setup);
});
