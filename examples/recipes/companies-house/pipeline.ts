// The companies of the United Kingdom: 55 fields, of which the table gets nine.

import { column, csv, definePipeline, index } from 'sluice';

const day = (header: string) => column.date(header, { format: 'DD/MM/YYYY' }).nullable();

export default definePipeline({
  name: 'companies',
  schema: 'companies',
  tables: {
    company: {
      source: csv('examples/recipes/companies-house/BasicCompanyDataAsOneFile-*.csv'),
      columns: {
        number: column.text('CompanyNumber').length(8),
        name: column.text('CompanyName'),
        town: column.text('RegAddress.PostTown').nullable(),
        postcode: column.text('RegAddress.PostCode').nullable(),
        category: column.text('CompanyCategory'),
        status: column.text('CompanyStatus'),
        incorporated: day('IncorporationDate'),
        dissolved: day('DissolutionDate'),
        sic: column.text('SICCode.SicText_1', { nulls: ['None Supplied'] }).nullable(),
      },
      primaryKey: ['number'],
      indexes: [index('postcode')],
    },
  },
});
