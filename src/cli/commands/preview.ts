// `etl preview <pipeline>`: shows the first rows and rejects of each file, without a server.

import { command, print } from '../command.ts';
import { countFlag, printing, params, pipelineArgument } from '../inputs.ts';
import { openPipeline } from '../pipeline.ts';
import { previewLines } from '../text/preview-text.ts';

const recordsDefault = 20;
/** Bounded, because all records of the preview are in memory. */
const recordsMax = 100_000;

export const previewCommand = command({
  name: 'preview',
  summary: 'show the first rows and rejects of each file, without a server',
  description:
    'Shows what the first records of each file would become: typed rows, and rejects with their reasons.',
  takes: {
    file: pipelineArgument,
    records: countFlag('-n, --records <n>', 'how many records of each file; default: 20', recordsMax),
    params,
    ...printing('print a line of JSON for each file'),
  },
  help: `
Shows values as PostgreSQL prints them, times with a zone in UTC. A type with ? may be null. Reads only the beginning of each
file, and writes nothing. Does not find duplicate keys, nor invalid values of types that only the server can read.

Examples:
  $ etl preview pipelines/sales.ts
  $ etl preview pipelines/sales.ts -n 1000 --json | jq '.rejects[]'`,
  async act(given) {
    const { records = recordsDefault } = given;
    const { pipeline, options } = await openPipeline(given);
    const { previewPipeline } = await import('../../tools/preview.ts');
    let blank: readonly string[] = [];
    for await (const found of previewPipeline(pipeline, options, records)) {
      const above = blank;
      print(
        { json: [found], lines: ({ width, paint }) => [...above, ...previewLines(found, width, paint)] },
        given,
      );
      blank = [''];
    }
  },
});
