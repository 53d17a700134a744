// A pipeline of two tables for tests of publishing, and the files that it reads.

import { column, csv, definePipeline, index, sqlFile, type Pipeline } from '../../src/index.ts';
import type { Hooks } from '../../src/pipeline/declare/hooks.ts';
import type { TestFiles } from './files.ts';

/** Writes them as they are at first; returns the path of the source file. */
export const writeCities = ({ write }: TestFiles): string => {
  write('big.sql', 'select id, name from city where people > 115000');
  return write('city.csv', 'id,name,people\n1,Ulm,120000\n2,Trier,110000\n');
};

/** One source table and one derived from it; `change` alters the declaration of the source table. */
export const citiesPipeline = (
  source: string,
  change: object = {},
  name = 'cities',
  hooks?: Hooks,
): Pipeline =>
  definePipeline({
    name,
    schema: 'geo',
    ...(hooks && { hooks }),
    tables: {
      city: {
        source: csv(source),
        columns: {
          id: column.integer('id'),
          name: column.text('name'),
          people: column.bigint('people').nullable(),
        },
        primaryKey: ['id'],
        indexes: [index('name')],
        ...change,
      },
      big: { from: ['city'], transform: sqlFile('big.sql'), primaryKey: ['id'] },
    },
  });
