// A shop whose sales are loaded night after night: its files, the pipeline of its tables, and the database, empty before each test.

import { rmSync } from 'node:fs';
import { beforeEach } from 'vitest';
import { csv, definePipeline, sqlFile, type Pipeline } from '../../src/index.ts';
import { usePipelineRuns } from './pipeline-runs.ts';

/** `header`: the first line of every file. `total`: SQL of the table `total`. `schemas`: dropped before each test, beside `shop`. */
interface Shop {
  readonly header: string;
  readonly total: string;
  readonly schemas?: readonly string[];
  readonly options?: Parameters<typeof usePipelineRuns>[0];
}

export const useShop = ({ header, total, schemas = [], options }: Shop) => {
  const runs = usePipelineRuns(options);
  const { files, one } = runs;
  files.write('total.sql', total);
  beforeEach(() => runs.startOver('shop', ...schemas));
  return {
    ...runs,
    /** Writes `in/${name}`; `1:5` is the line `1,5`. */
    write: (name: string, ...lines: readonly string[]): string =>
      files.write(`in/${name}`, [header, ...lines.map((line) => line.replaceAll(':', ',')), ''].join('\n')),
    remove: (name: string): void => rmSync(`${files.directory}/in/${name}`),
    /** The pipeline `sales`: a table `sale` of all files, and `total`, which is made of it. */
    sales: (sale: object, change: object = {}, more: object = {}): Pipeline =>
      definePipeline({
        name: 'sales',
        schema: 'shop',
        tables: {
          sale: { source: csv('in/*.csv'), guard: false, ...sale },
          total: { from: ['sale'], transform: sqlFile('total.sql'), ...change },
        },
        ...more,
      } as never),
    /** Which table it is: another one after it was swapped. */
    oid: (table = 'sale'): Promise<unknown> => one(`select 'shop.${table}'::regclass::oid as oid`),
  };
};
