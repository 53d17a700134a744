// Names of places, as GeoNames publishes them in allCountries.txt: tabs, no header, no quotes, an empty field for null.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import {
  between,
  isoDay,
  moment,
  pick,
  randomFrom,
  skewed,
  sometimes,
  title,
  type Random,
} from '../random.ts';
import { params, type Shape } from './contract.ts';

const header = [
  'geonameid',
  'name',
  'asciiname',
  'alternatenames',
  'latitude',
  'longitude',
  'feature_class',
  'feature_code',
  'country_code',
  'cc2',
  'admin1_code',
  'admin2_code',
  'admin3_code',
  'admin4_code',
  'population',
  'elevation',
  'dem',
  'timezone',
  'modification_date',
];

const pipeline = definePipeline({
  name: 'bench_places',
  schema: 'bench_places',
  params,
  tables: ({ staging }) => ({
    places: {
      source: csv('*places.txt', { header, delimiter: '\t', quote: null }),
      staging,
      columns: {
        geonameid: column.integer('geonameid'),
        name: column.text('name'),
        asciiname: column.text('asciiname').nullable(),
        alternatenames: column.text('alternatenames').nullable(),
        latitude: column.double('latitude'),
        longitude: column.double('longitude'),
        feature_class: column.varchar('feature_class', { length: 1 }).nullable(),
        feature_code: column.varchar('feature_code', { length: 10 }).nullable(),
        country_code: column.varchar('country_code', { length: 2 }).nullable(),
        cc2: column.text('cc2').nullable(),
        admin1_code: column.text('admin1_code').nullable(),
        admin2_code: column.text('admin2_code').nullable(),
        admin3_code: column.text('admin3_code').nullable(),
        admin4_code: column.text('admin4_code').nullable(),
        population: column.bigint('population'),
        elevation: column.integer('elevation').nullable(),
        dem: column.integer('dem'),
        timezone: column.text('timezone').nullable(),
        modification_date: column.date('modification_date'),
      },
      primaryKey: ['geonameid'],
    },
  }),
});

const features = [
  'P PPL',
  'P PPL',
  'P PPLL',
  'H STM',
  'H LK',
  'T MT',
  'T HLL',
  'S SCH',
  'S FRM',
  'L LCTY',
  'A ADM3',
];
const countries = [
  ['US', 'America/Chicago'],
  ['CN', 'Asia/Shanghai'],
  ['IN', 'Asia/Kolkata'],
  ['NO', 'Europe/Oslo'],
  ['MX', 'America/Mexico_City'],
  ['ID', 'Asia/Jakarta'],
  ['RU', 'Asia/Yekaterinburg'],
  ['DE', 'Europe/Berlin'],
  ['FR', 'Europe/Paris'],
  ['AU', 'Australia/Sydney'],
] as const;
const otherNames = [
  'Санкт-Петербург',
  '北京市',
  'ولاية الجزائر',
  'Αθήνα',
  'Küçükçekmece',
  'Saint-Étienne',
  'ノルウェー',
];

const otherName = (random: Random): string => (random() < 0.25 ? pick(random, otherNames) : title(random, 2));

/** Mostly a few names; a share of the places has hundreds of characters. */
const alternateNames = (random: Random): string =>
  Array.from({ length: skewed(random, 1, random() < 0.03 ? 60 : 6) }, () => otherName(random)).join(',');

const place = (random: Random, id: number): string => {
  const name = title(random, 4);
  const [featureClass, featureCode] = pick(random, features).split(' ');
  const [country, timezone] = countries[skewed(random, 0, countries.length - 1)]!;
  return `${[
    id,
    name,
    name.normalize('NFD').replaceAll(/[^ -~]/g, ''),
    sometimes(random, 0.45, () => alternateNames(random)),
    ((random() - 0.5) * 150).toFixed(5),
    ((random() - 0.5) * 360).toFixed(5),
    featureClass,
    featureCode,
    country,
    sometimes(random, 0.002, () => 'US,CA'),
    sometimes(random, 0.97, () => String(between(random, 1, 90)).padStart(2, '0')),
    sometimes(random, 0.55, () => String(between(random, 1, 999)).padStart(3, '0')),
    sometimes(random, 0.3, () => String(between(random, 1, 99_999))),
    sometimes(random, 0.15, () => String(between(random, 100_000, 999_999))),
    random() < 0.93 ? 0 : skewed(random, 1, 500_000),
    sometimes(random, 0.17, () => String(skewed(random, 1, 4000))),
    skewed(random, -1, 4500),
    timezone,
    isoDay(moment(random, 2006, 2024)),
  ].join('\t')}\n`;
};

export default pipeline;

export const shape: Shape = {
  name: 'places',
  title: 'integers, two doubles, ten texts of which half are empty, date; tabs, no quotes',
  pipeline,
  files: {
    nameEnd: 'places.txt',
    headerLine: '',
    lines: (seed) => {
      const random = randomFrom(seed);
      let id = 2_986_000;
      return batchesOf(() => {
        id += between(random, 1, 2);
        return place(random, id);
      });
    },
  },
};
