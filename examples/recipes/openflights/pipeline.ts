// Airports of OpenFlights: \N for null, and backslashes before some quotes.

import { column, csv, definePipeline } from 'sluice';

export default definePipeline({
  name: 'openflights',
  schema: 'openflights',
  tables: {
    airport: {
      source: csv('examples/recipes/openflights/airports.dat', { escapes: 'any', header: false }),
      columns: {
        id: column.integer(1),
        name: column.text(2),
        city: column.text(3).nullable(),
        country: column.text(4),
        iata: column.text(5).nullable(),
        icao: column.text(6).nullable(),
        latitude: column.double(7),
        longitude: column.double(8),
        altitude_ft: column.integer(9),
        timezone: column.text(12).nullable(),
      },
      primaryKey: ['id'],
    },
  },
});
