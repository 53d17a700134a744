// A program: loads a file in which every record is broken, and says what became of the run and what memory it took.
//
//   load-hopeless.ts <file> <rejectLimit> <pipeline>   with DATABASE_URL

import { column, csv, definePipeline, runPipeline } from 'sluice';

const [file = '', limit = '0', name = 'hopeless'] = process.argv.slice(3);
const pipeline = definePipeline({
  name,
  schema: name,
  tables: {
    t: {
      source: csv(file),
      columns: { id: column.integer('id'), value: column.integer('value') },
      rejectLimit: limit.endsWith('%') ? (limit as `${number}%`) : Number(limit),
    },
  },
});

const outcome = await runPipeline(pipeline, { workers: 2 }).then(
  ({ tables: [table] }) => ({ rejected: table!.rejected, records: table!.records, code: null }),
  ({ code, message, details: { rejected, records } }) => ({ code, message, rejected, records }),
);
console.log(JSON.stringify({ ...outcome, peakKib: process.resourceUsage().maxRSS }));
