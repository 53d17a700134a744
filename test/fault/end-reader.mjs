// Imported before everything else by every thread of `etl`: ends the one that reads a stream, as READER_ENDS says, after a few pieces.

import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';

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
// A listener for its messages would take the first ones, before it has one.
if (parentPort !== null && basename(process.argv[1] ?? '').startsWith('read-thread')) {
  const post = parentPort.postMessage.bind(parentPort);
  parentPort.postMessage = (message) => {
    post(message);
    if (message.type !== 'piece') return;
    pieces += 1;
    if (pieces === 7) setImmediate(() => ways[process.env.READER_ENDS]());
  };
}
