// New York's yellow taxis: a file for each month, whose header changed over the years.

import { column, csv, definePipeline } from 'sluice';

const payments = { CRD: '1', CSH: '2', NOC: '3', DIS: '4', UNK: '5' };
const money = (...from: string[]) => column.numeric({ from }, { precision: 8, scale: 2 });

export default definePipeline({
  name: 'taxi',
  schema: 'taxi',
  tables: {
    trip: {
      source: csv('examples/recipes/nyc-taxi/yellow_tripdata_*.csv', { ragged: 'cut' }),
      missing: 'null',
      columns: {
        vendor: column.smallint({ from: ['vendor_id', 'VendorID'] }, { tokens: { CMT: '1', VTS: '2' } }),
        picked_up: column.timestamp({ from: ['pickup_datetime', 'tpep_pickup_datetime'] }),
        dropped_off: column.timestamp({ from: ['dropoff_datetime', 'tpep_dropoff_datetime'] }),
        passengers: column.smallint('passenger_count'),
        miles: column.numeric('trip_distance'),
        pickup: column.of('point', ['pickup_longitude', 'pickup_latitude'], { separator: ',' }).nullable(),
        payment: column.smallint('payment_type', { tokens: payments }),
        fare: money('fare_amount'),
        total: money('total_amount'),
      },
      publish: 'append',
      rejectLimit: 100,
    },
  },
});
