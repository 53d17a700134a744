// Fields as they are: the load step of text staging against `\copy` into text columns.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtl } from '../etl.ts';
import { hourlyHeader } from '../hourly-files.ts';
import { dropSchemas, scriptSide } from '../sides.ts';
import { scriptSchema } from '../sql.ts';
import { stagingTable } from '../../src/db/staging.ts';
import { quoteName } from '../../src/db/sql.ts';

export const verbatimSides = {
  copy: '\\copy, unlogged',
  etl: "etl, staging: 'text', 1 worker",
} as const;

export const measureVerbatim = async (bench: Bench): Promise<PartReport> => {
  const { server } = bench;
  const dataset = await bench.dataset(bench.records, 2);
  const { directory, files, records } = dataset;
  const raw = `${scriptSchema}.raw`;
  const columns = hourlyHeader.map((name) => `${quoteName(name.toLowerCase())} text`);
  const copies = files.map(({ path }) => ({ copy: raw, file: path }));
  const create = `create unlogged table ${raw} (${columns.join(', ')})`;
  const staging = stagingTable('bench_verbatim', 'observation');
  const sides: readonly Side[] = [
    scriptSide(bench, verbatimSides.copy, dataset, [[copies]], { fields: `select * from ${raw}` }, create),
    {
      name: verbatimSides.etl,
      records,
      run: async () => {
        const pipeline = pipelinePath('verbatim.ts');
        return (await runEtl(server, { pipeline, workers: 1, directory, keepStaging: true })).load;
      },
      results: { fields: `select * from ${staging}` },
      reset: `${dropSchemas('bench_verbatim')}; drop table if exists ${staging}`,
    },
  ];
  return {
    part: 'verbatim',
    title: 'Load step of text staging, two files',
    sides: await compare(server, sides, bench.rounds),
  };
};
