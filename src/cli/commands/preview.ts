// `etl preview <pipeline>`: shows the first rows and rejects of each file, without a server.

import { command, print } from '../command.ts';
import type { PreviewFile } from '../../tools/preview.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { countFlag, namesFlag, printing, params, pipelineArgument } from '../inputs.ts';
import { openPipeline } from '../pipeline.ts';
import { previewLines } from '../text/preview-text.ts';

const recordsDefault = 20;
/** Bounded, because all records of the preview are in memory. */
const recordsMax = 100_000;

/** Leaves these columns of a file's rows, in this order. */
const withColumns = (found: PreviewFile, names: readonly string[]): PreviewFile => {
  const places = names
    .map((name) => found.columns.findIndex((column) => column.name === name))
    .filter((place) => place >= 0);
  return {
    ...found,
    columns: places.map((place) => found.columns[place]!),
    rows: found.rows.map((row) => ({ ...row, values: places.map((place) => row.values[place]!) })),
  };
};

const refuseUnknown = (names: readonly string[], known: ReadonlySet<string>): void => {
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const problem = `no previewed table has a column '${unknown}'${didYouMean(unknown, [...known])}`;
  throw new EtlError('ETL_USAGE', { problem, hint: 'Give names of columns in production.' });
};

export const previewCommand = command({
  name: 'preview',
  summary: 'show the first rows and rejects of each file, without a server',
  description:
    'Shows what the first records of each file would become: typed rows, and rejects with their reasons.',
  takes: {
    file: pipelineArgument,
    records: countFlag('-n, --records <n>', 'how many records of each file; default: 20', recordsMax),
    columns: namesFlag('-c, --columns <names>', 'columns to show (comma-separated); default: all'),
    params,
    ...printing('print a line of JSON for each file'),
  },
  help: `
Shows values as PostgreSQL prints them, times with a zone in UTC. A type with ? may be null. Reads only the beginning of each
file, and writes nothing. Does not find duplicate keys, nor invalid values of types that only the server can read.

Examples:
  $ etl preview pipelines/sales.ts
  $ etl preview pipelines/sales.ts -c id,price -n 5
  $ etl preview pipelines/sales.ts -n 1000 --json | jq '.rejects[]'`,
  async act(given) {
    const { records = recordsDefault, columns } = given;
    const known = new Set<string>();
    const { pipeline, options } = await openPipeline(given);
    const { previewPipeline } = await import('../../tools/preview.ts');
    let blank: readonly string[] = [];
    for await (const all of previewPipeline(pipeline, options, records)) {
      for (const { name } of all.columns) known.add(name);
      const found = columns === undefined ? all : withColumns(all, columns);
      if (columns !== undefined && found.columns.length === 0) continue;
      const above = blank;
      print(
        { json: [found], lines: ({ width, paint }) => [...above, ...previewLines(found, width, paint)] },
        given,
      );
      blank = [''];
    }
    refuseUnknown(columns ?? [], known);
  },
});
