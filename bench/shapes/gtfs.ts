// Stop times of a timetable in GTFS: times of day, small numbers, many empty fields; a key of two columns.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, pick, randomFrom, twoDigits } from '../random.ts';
import { othersOf, params, type Shape } from './contract.ts';

export const columns = {
  trip_id: column.text('trip_id'),
  arrival: column.time('arrival_time'),
  departure: column.time('departure_time'),
  stop_id: column.text('stop_id'),
  stop_sequence: column.integer('stop_sequence'),
  headsign: column.text('stop_headsign').nullable(),
  pickup_type: column.smallint('pickup_type').nullable(),
  drop_off_type: column.smallint('drop_off_type').nullable(),
  distance: column.double('shape_dist_traveled').nullable(),
  timepoint: column.boolean('timepoint').nullable(),
};

export const primaryKey = ['trip_id', 'stop_sequence'] as const;

const pipeline = definePipeline({
  name: 'bench_gtfs',
  schema: 'bench_gtfs',
  params,
  tables: ({ staging }) => ({
    gtfs: {
      source: csv('*stop_times.txt'),
      staging,
      columns,
      primaryKey,
    },
  }),
});

const headsigns = ['', '', '', 'Hauptbahnhof', 'S+U Warschauer Straße', 'Görlitzer Park', 'Gare de l’Est'];

const clock = (seconds: number): string =>
  `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;

export default pipeline;

export const shape: Shape = {
  name: 'gtfs',
  title: 'two times, short texts, small numbers, boolean from 0 and 1, a key of two columns',
  pipeline,
  files: {
    nameEnd: 'stop_times.txt',
    headerLine:
      'trip_id,arrival_time,departure_time,stop_id,stop_sequence,stop_headsign,pickup_type,drop_off_type,shape_dist_traveled,timepoint\n',
    lines: (seed) => {
      const random = randomFrom(seed);
      let trip = 0;
      let [stop, stops, seconds, metres, headsign] = [0, 0, 0, 0, ''];
      return batchesOf(() => {
        if (stop === stops) {
          trip += 1;
          [stop, stops, seconds, metres] = [
            0,
            between(random, 8, 45),
            between(random, 4 * 3600, 22 * 3600),
            0,
          ];
          headsign = pick(random, headsigns);
        }
        stop += 1;
        seconds += between(random, 40, 140);
        metres += between(random, 250, 900);
        const isPoint = random() < 0.1;
        return [
          `${100_000_000 + trip * 7}_${trip % 9}`,
          clock(seconds),
          clock(isPoint ? seconds + 30 : seconds),
          `de:11000:900${between(random, 100_000, 199_999)}::${between(random, 1, 4)}`,
          stop,
          headsign,
          random() < 0.9 ? '0' : '',
          random() < 0.9 ? '0' : '',
          (metres / 1000).toFixed(3),
          `${isPoint ? 1 : 0}\n`,
        ].join(',');
      });
    },
  },
  night: {
    key: primaryKey,
    others: othersOf(columns, primaryKey),
    // Another platform.
    change: (line) => line.replace(/::\d,/, '::9,'),
    // Another stop of the same trip: none has more than 45.
    renew: (line) =>
      line.replace(/^((?:[^,]*,){4})(\d+)/, (_, before, stop) => `${before}${Number(stop) + 100}`),
  },
};
