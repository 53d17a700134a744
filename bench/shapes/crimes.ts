// Crimes of a city, as Chicago publishes them: moments with AM and PM, moments of variable length, words as booleans, quoted
// descriptions, coordinates.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, moment, pick, quoted, randomFrom, twoDigits } from '../random.ts';
import { params, type Shape } from './contract.ts';

const pipeline = definePipeline({
  name: 'bench_crimes',
  schema: 'bench_crimes',
  params,
  tables: ({ staging }) => ({
    crimes: {
      source: csv('*crimes.csv'),
      staging,
      columns: {
        id: column.integer('ID'),
        case_number: column.text('Case Number'),
        happened_at: column.timestamp('Date', { format: 'MM/DD/YYYY hh:mm:ss A' }),
        block: column.text('Block'),
        iucr: column.varchar('IUCR', { length: 4 }),
        kind: column.text('Primary Type'),
        description: column.text('Description'),
        place: column.text('Location Description').nullable(),
        arrest: column.boolean('Arrest'),
        domestic: column.boolean('Domestic'),
        beat: column.smallint('Beat'),
        district: column.smallint('District').nullable(),
        ward: column.smallint('Ward').nullable(),
        community: column.smallint('Community Area').nullable(),
        fbi_code: column.varchar('FBI Code', { length: 3 }),
        x: column.integer('X Coordinate').nullable(),
        y: column.integer('Y Coordinate').nullable(),
        year: column.smallint('Year'),
        updated_at: column.timestamp('Updated On', { format: 'M/D/YYYY H:mm' }),
        latitude: column.double('Latitude').nullable(),
        longitude: column.double('Longitude').nullable(),
        location: column.text('Location').nullable(),
      },
      primaryKey: ['id'],
    },
  }),
});

const kinds = [
  ['0820', 'THEFT', '$500 AND UNDER', '06'],
  ['0810', 'THEFT', 'OVER $500', '06'],
  ['0486', 'BATTERY', 'DOMESTIC BATTERY SIMPLE', '08B'],
  ['1320', 'CRIMINAL DAMAGE', 'TO VEHICLE', '14'],
  ['0560', 'ASSAULT', 'SIMPLE', '08A'],
  ['1154', 'DECEPTIVE PRACTICE', 'FINANCIAL IDENTITY THEFT, $300 AND UNDER', '11'],
  ['143A', 'WEAPONS VIOLATION', 'UNLAWFUL POSSESSION - HANDGUN', '15'],
] as const;
const places = [
  'STREET',
  'RESIDENCE',
  'APARTMENT',
  'SIDEWALK',
  'PARKING LOT / GARAGE (NON RESIDENTIAL)',
  'SMALL RETAIL STORE',
  'VEHICLE - COMMERCIAL: ENTERTAINMENT, PARTY BUS',
  '',
];
const streets = [
  'S MICHIGAN AVE',
  'W MADISON ST',
  'N CLARK ST',
  'S HALSTED ST',
  'W 63RD ST',
  'N SHERIDAN RD',
];

/** `MM/DD/YYYY hh:mm:ss A` */
const spoken = (at: Date): string => {
  const hour = at.getUTCHours();
  return `${twoDigits(at.getUTCMonth() + 1)}/${twoDigits(at.getUTCDate())}/${at.getUTCFullYear()} ${twoDigits(hour % 12 || 12)}:${twoDigits(at.getUTCMinutes())}:00 ${hour < 12 ? 'AM' : 'PM'}`;
};

/** `M/D/YYYY H:mm` */
const short = (at: Date): string =>
  `${at.getUTCMonth() + 1}/${at.getUTCDate()}/${at.getUTCFullYear()} ${at.getUTCHours()}:${twoDigits(at.getUTCMinutes())}`;

const lines = (seed: number): Iterator<readonly string[], never> => {
  const random = randomFrom(seed);
  let id = 10_000_000;
  return batchesOf(() => {
    id += between(random, 1, 3);
    const at = moment(random, 2010, 2024);
    const [iucr, kind, description, fbi] = pick(random, kinds);
    const isPlaced = random() < 0.98;
    const [x, y] = [between(random, 1_094_231, 1_205_119), between(random, 1_813_910, 1_951_573)];
    const latitude = (41.644 + ((y - 1_813_910) / 137_663) * 0.379).toFixed(9);
    const longitude = (-87.94 + ((x - 1_094_231) / 110_888) * 0.416).toFixed(9);
    return [
      id,
      `J${pick(random, ['A', 'B', 'C', 'D'])}${between(random, 100_000, 599_999)}`,
      spoken(at),
      `${String(between(random, 1, 119)).padStart(3, '0')}XX ${pick(random, streets)}`,
      iucr,
      kind,
      quoted(description),
      quoted(pick(random, places)),
      random() < 0.2,
      random() < 0.15,
      String(between(random, 111, 2535)).padStart(4, '0'),
      String(between(random, 1, 25)).padStart(3, '0'),
      random() < 0.97 ? between(random, 1, 50) : '',
      random() < 0.97 ? between(random, 1, 77) : '',
      fbi,
      isPlaced ? x : '',
      isPlaced ? y : '',
      at.getUTCFullYear(),
      short(new Date(at.getTime() + between(random, 1, 90) * 86_400_000)),
      isPlaced ? latitude : '',
      isPlaced ? longitude : '',
      isPlaced ? `"(${latitude}, ${longitude})"\n` : '\n',
    ].join(',');
  });
};

export default pipeline;

export const shape: Shape = {
  name: 'crimes',
  title: 'timestamps `MM/DD/YYYY hh:mm:ss A` and `M/D/YYYY H:mm`, booleans, quoted texts, doubles',
  pipeline,
  files: {
    nameEnd: 'crimes.csv',
    headerLine:
      'ID,Case Number,Date,Block,IUCR,Primary Type,Description,Location Description,Arrest,Domestic,Beat,District,Ward,Community Area,FBI Code,X Coordinate,Y Coordinate,Year,Updated On,Latitude,Longitude,Location\n',
    lines,
  },
};
