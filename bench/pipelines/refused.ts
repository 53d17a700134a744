// The benchmark's pipeline of records that only the server can refuse: values of an enum and of a domain, or the number of fields.

import { column, csv, definePipeline, sqlFile } from 'sluice';
import { z } from 'zod';

export default definePipeline({
  name: 'bench_refused',
  schema: 'bench_refused',
  params: z.object({ staging: z.enum(['typed', 'text']) }),
  tables: ({ staging }) => ({
    order: {
      source: csv('*refused.csv'),
      rejectLimit: '100%',
      ...(staging === 'text'
        ? { staging, transform: sqlFile('refused.sql') }
        : {
            columns: {
              id: column.integer('id'),
              state: column.of('bench_types.state', 'state'),
              code: column.of('bench_types.code', 'code'),
              note: column.text('note'),
            },
          }),
    },
  }),
});
