// Trips of New York's yellow taxis, as the city publishes them: two moments, small numbers, amounts with two places.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, decimal, isoSecond, moment, randomFrom, skewed } from '../random.ts';
import { params, type Shape } from './contract.ts';

const amount = (header: string) => column.numeric(header, { precision: 8, scale: 2 });

const pipeline = definePipeline({
  name: 'bench_taxi',
  schema: 'bench_taxi',
  params,
  tables: ({ staging }) => ({
    taxi: {
      source: csv('*taxi.csv'),
      staging,
      columns: {
        vendor: column.smallint('VendorID'),
        picked_up_at: column.timestamp('tpep_pickup_datetime'),
        dropped_off_at: column.timestamp('tpep_dropoff_datetime'),
        passengers: column.smallint('passenger_count').nullable(),
        distance: column.double('trip_distance'),
        rate_code: column.smallint('RatecodeID').nullable(),
        stored: column.boolean('store_and_fwd_flag').nullable(),
        from_zone: column.smallint('PULocationID'),
        to_zone: column.smallint('DOLocationID'),
        payment: column.smallint('payment_type'),
        fare: amount('fare_amount'),
        extra: amount('extra'),
        mta_tax: amount('mta_tax'),
        tip: amount('tip_amount'),
        tolls: amount('tolls_amount'),
        improvement: amount('improvement_surcharge'),
        total: amount('total_amount'),
        congestion: amount('congestion_surcharge').nullable(),
      },
    },
  }),
});

/** A number as spreadsheets and pandas write it: without zeros at its end. */
const shortest = (hundredths: number): string => String(hundredths / 100);

export default pipeline;

export const shape: Shape = {
  name: 'taxi',
  title: 'two timestamps, six smallints, eight numeric(8,2), double, boolean from Y and N',
  pipeline,
  files: {
    nameEnd: 'taxi.csv',
    headerLine:
      'VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,RatecodeID,store_and_fwd_flag,PULocationID,DOLocationID,payment_type,fare_amount,extra,mta_tax,tip_amount,tolls_amount,improvement_surcharge,total_amount,congestion_surcharge\n',
    lines: (seed) => {
      const random = randomFrom(seed);
      return batchesOf(() => {
        const from = moment(random, 2023, 2023);
        const minutes = skewed(random, 1, 90);
        const fare = 300 + minutes * 95;
        const tip = random() < 0.6 ? skewed(random, 50, 2_500) : 0;
        const tolls = random() < 0.05 ? 655 : 0;
        const extra = [0, 50, 100, 250][between(random, 0, 3)]!;
        // Trips of one vendor lack what its devices do not tell.
        const isTold = random() < 0.96;
        return [
          between(random, 1, 2),
          isoSecond(from),
          isoSecond(new Date(from.getTime() + minutes * 60_000 + between(random, 0, 59) * 1000)),
          isTold ? skewed(random, 1, 6) : '',
          shortest(minutes * between(random, 15, 40)),
          isTold ? (random() < 0.97 ? 1 : between(random, 2, 6)) : '',
          isTold ? (random() < 0.99 ? 'N' : 'Y') : '',
          between(random, 1, 265),
          between(random, 1, 265),
          random() < 0.7 ? 1 : between(random, 2, 4),
          shortest(random() < 0.003 ? -fare : fare),
          shortest(extra),
          '0.5',
          decimal(tip),
          shortest(tolls),
          '0.3',
          decimal(fare + extra + tip + tolls + 80),
          `${isTold ? '2.5' : ''}\n`,
        ].join(',');
      });
    },
  },
};
