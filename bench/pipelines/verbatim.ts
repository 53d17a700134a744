// The benchmark's pipeline for the verbatim lane: the files land byte for byte in text columns. Its table is small, so
// that nothing but the load takes time.

import { csv, definePipeline, sqlFile } from 'sluice';

export default definePipeline({
  name: 'bench_verbatim',
  schema: 'bench_verbatim',
  tables: {
    observation: {
      source: csv('*hourly.txt'),
      staging: 'text',
      transform: sqlFile('verbatim.sql'),
    },
  },
});
