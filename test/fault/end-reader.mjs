// Imported before everything else by every thread of `etl`: ends the one that reads a stream, as READER_ENDS says, after a few pieces.

import { parentPort, workerData } from 'node:worker_threads';

const ways = {
  memory: () => {
    const held = [];
    for (;;) held.push(Array.from({ length: 1_000_000 }, Object));
  },
  error: () => {
    throw new RangeError('nobody catches this');
  },
  exit: () => process.exit(7),
};

let pieces = 0;
// The main thread sends memory for each piece.
if (workerData?.gaps !== undefined)
  parentPort.on('message', () => {
    pieces += 1;
    if (pieces === 8) setImmediate(() => ways[process.env.READER_ENDS]());
  });
