// Four columns of one spelling of the matrix, named by the parameter.

import { column, csv, definePipeline } from 'sluice';
import { z } from 'zod';
import { spellings } from '../matrix/spellings.ts';

type Column = ReturnType<typeof column.text>;

export default definePipeline({
  name: 'bench_spelling',
  schema: 'bench_spelling',
  params: z.object({ spelling: z.string() }),
  tables: ({ spelling }) => ({
    spelling: {
      source: csv('*spelling.csv'),
      columns: Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((header) => [
          header,
          spellings.find(({ name }) => name === spelling)!.column(header) as Column,
        ]),
      ),
    },
  }),
});
