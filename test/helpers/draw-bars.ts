// A program: draws the live display of a run on its terminal, frame by frame, and says when all are drawn.
//
//   draw-bars.ts <tables> <frames> [note]   a note is written above every tenth frame

import { setTimeout as sleep } from 'node:timers/promises';
import { processIo } from '../../src/cli/io.ts';
import { openDisplay } from '../../src/cli/text/display.ts';

const [tables = '3', frames = '20', note] = process.argv.slice(3);
const names = Array.from({ length: Number(tables) }, (_, index) => `table_${index}`);
const bytesTotal = 1_000_000;

const display = openDisplay(
  { mode: 'bar', pipeline: 'shop', json: false, quiet: false, verbose: false },
  processIo(),
);
display.event({ type: 'started', runId: 1, pipeline: 'shop', server: 'me@localhost/db', workers: 2 });
display.event({
  type: 'planned',
  tables: names.map((table) => ({ table, kind: 'source' as const, files: 1, bytes: bytesTotal })),
});
display.event({ type: 'step', step: 'load' });
for (let frame = 1; frame <= Number(frames); frame += 1) {
  for (const table of names) {
    const records = frame * 10;
    const counts = { records, copied: records, rejected: 0, filtered: 0 };
    display.event({ type: 'progress', table, bytes: frame * 1_000, bytesTotal, ...counts });
  }
  if (note !== undefined && frame % 10 === 0) display.note(`${note} ${frame}`);
  await sleep(110);
}
display.close();
console.log('all drawn');
