// Wikipedia's page views: a file for each hour, with blanks between the fields.

import { column, csv, definePipeline, oneOf, path } from 'sluice';

const format = 'YYYYMMDD-HHmmss';

export default definePipeline({
  name: 'pageviews',
  schema: 'pageviews',
  tables: {
    page_hour: {
      source: csv('examples/recipes/wikipedia-pageviews/pageviews-*.gz', {
        delimiter: ' ',
        quote: null,
        header: ['domain_code', 'page_title', 'count_views', 'total_response_size'],
      }),
      filter: oneOf('domain_code', ['en', 'en.m', 'de', 'de.m']),
      columns: {
        hour: column.timestamptz(path(/\d{8}-\d{6}/), { format, zone: 'UTC' }),
        domain: column.text('domain_code'),
        title: column.text('page_title'),
        views: column.integer('count_views'),
      },
      primaryKey: ['hour', 'domain', 'title'],
      publish: 'append',
    },
  },
});
