// Many small files of two columns, from anywhere: what each of them costs, beside its few records.

import { column, csv, definePipeline } from 'sluice';
import { z } from 'zod';

export default definePipeline({
  name: 'bench_objects',
  schema: 'bench_objects',
  params: z.object({ files: z.string(), endpoint: z.string().optional() }),
  tables: ({ files, endpoint }) => ({
    record: {
      source: csv(files, { anywhere: true, ...(endpoint !== undefined && { endpoint, anonymous: true }) }),
      columns: { id: column.integer('id'), words: column.text('words') },
    },
  }),
});
