// A table with a type that the server reads, so that rows are sent as text, against a plain script that checks nothing.

import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import type { Dataset } from '../generate.ts';
import { measured, runProgram } from '../measure.ts';
import { etlSide, resetScripts } from '../sides.ts';
import { createTypedTable, scriptSchema } from '../sql.ts';

export const textRowsSides = {
  plain: 'csv-parse + pg-copy-streams, a process a file',
  etl: 'etl, rows as text, 2 workers',
} as const;

const script = fileURLToPath(new URL('../programs/plain-load.mjs', import.meta.url));

/** One process a file, side by side, into one unlogged table of the same types. */
const plainSide = ({ server }: Bench, { files, records }: Dataset): Side => {
  const table = `${scriptSchema}.observation`;
  const load = ({ path }: { readonly path: string }) =>
    runProgram(process.execPath, [script, path, table], { env: { DATABASE_URL: server.url } });
  return {
    name: textRowsSides.plain,
    records,
    run: () => measured(server.pid, () => Promise.all(files.map(load))),
    results: { observations: `select * from ${table}` },
    reset: `${resetScripts}; ${createTypedTable('unlogged table')}`,
  };
};

export const measureTextRows = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 2);
  const sides = [
    plainSide(bench, dataset),
    etlSide(bench, textRowsSides.etl, dataset, 'load', 2, { rows: 'text' }),
  ];
  return {
    part: 'text-rows',
    title: 'Load stage with a type that the server reads, two files',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
