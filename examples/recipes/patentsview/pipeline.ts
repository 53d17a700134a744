// United States patents and their applications: tab-separated, all fields quoted.

import { column, csv, definePipeline } from 'sluice';

const file = (name: string) => csv(`examples/recipes/patentsview/${name}.tsv`, { delimiter: '\t' });

export default definePipeline({
  name: 'patents',
  schema: 'patents',
  tables: {
    patent: {
      source: file('g_patent'),
      columns: {
        id: column.text('patent_id'),
        type: column.text('patent_type'),
        granted: column.date('patent_date'),
        title: column.text('patent_title').nullable(),
        claims: column.integer('num_claims'),
        withdrawn: column.boolean('withdrawn'),
      },
      primaryKey: ['id'],
    },
    application: {
      source: file('g_application'),
      columns: { patent: column.text('patent_id'), filed: column.date('filing_date').min('1790-07-31') },
      primaryKey: ['patent'],
      rejectLimit: 1000,
    },
  },
});
