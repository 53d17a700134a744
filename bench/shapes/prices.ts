// Prices of houses, as the land registry of England and Wales publishes them: no header, every field in quotes, braces around the
// UUID, a time of day that is always midnight.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, isoDay, moment, pick, randomFrom, skewed, uuid } from '../random.ts';
import { params, type Shape } from './contract.ts';

const header = [
  'id',
  'price',
  'date',
  'postcode',
  'kind',
  'is_new',
  'tenure',
  'number',
  'flat',
  'street',
  'locality',
  'town',
  'district',
  'county',
  'category',
  'status',
];

const letter = (name: string) => column.varchar(name, { length: 1 });

const pipeline = definePipeline({
  name: 'bench_prices',
  schema: 'bench_prices',
  params,
  tables: ({ staging }) => ({
    prices: {
      source: csv('*prices.csv', { header }),
      staging,
      columns: {
        id: column.uuid('id'),
        price: column.integer('price'),
        sold_on: column.date('date', { format: 'YYYY-MM-DD 00:00' }),
        postcode: column.text('postcode').nullable(),
        kind: letter('kind'),
        is_new: column.boolean('is_new', { true: ['Y'], false: ['N'] }),
        tenure: letter('tenure'),
        number: column.text('number').nullable(),
        flat: column.text('flat').nullable(),
        street: column.text('street').nullable(),
        locality: column.text('locality').nullable(),
        town: column.text('town').nullable(),
        district: column.text('district').nullable(),
        county: column.text('county').nullable(),
        category: letter('category'),
        status: letter('status'),
      },
      primaryKey: ['id'],
    },
  }),
});

const streets = [
  'HIGH STREET',
  'STATION ROAD',
  'CHURCH LANE',
  'MATFEN PLACE',
  'HEATH ROAD',
  'SHROPSHIRE CLOSE',
  'SLEDMERE CLOSE',
  "ST JOHN'S AVENUE",
  'WOODSIDE GRANGE ROAD',
  'MAIN STREET',
];
const places = [
  ['', 'LONDON', 'BARNET', 'GREATER LONDON'],
  ['FENHAM', 'NEWCASTLE UPON TYNE', 'NEWCASTLE UPON TYNE', 'TYNE AND WEAR'],
  ['GRAYS', 'GRAYS', 'THURROCK', 'THURROCK'],
  ['ST JOHNS FEN END', 'WISBECH', "KING'S LYNN AND WEST NORFOLK", 'NORFOLK'],
  ['', 'MILTON KEYNES', 'MILTON KEYNES', 'MILTON KEYNES'],
  ['', 'LEEDS', 'LEEDS', 'WEST YORKSHIRE'],
] as const;
const areas = ['NE', 'RM', 'CW', 'TS', 'CA', 'PE', 'S', 'N', 'MK', 'LS', 'SW'];

export default pipeline;

export const shape: Shape = {
  name: 'prices',
  title: 'every field quoted, uuid in braces, date with a time of day, boolean from Y and N, ten texts',
  pipeline,
  files: {
    nameEnd: 'prices.csv',
    headerLine: '',
    lines: (seed) => {
      const random = randomFrom(seed);
      return batchesOf(() => {
        const [locality, town, district, county] = pick(random, places);
        const isFlat = random() < 0.18;
        const fields = [
          `{${uuid(random).toUpperCase()}}`,
          skewed(random, 40, 1_200) * 500,
          `${isoDay(moment(random, 1995, 2024))} 00:00`,
          random() < 0.998
            ? `${pick(random, areas)}${between(random, 1, 39)} ${between(random, 1, 9)}${pick(random, ['AB', 'DN', 'HG', 'QH', 'XZ'])}`
            : '',
          pick(random, isFlat ? ['F'] : ['D', 'S', 'T', 'T', 'O']),
          random() < 0.1 ? 'Y' : 'N',
          random() < (isFlat ? 0.03 : 0.9) ? 'F' : 'L',
          isFlat && random() < 0.4 ? 'CAVENDISH HOUSE' : between(random, 1, 250),
          isFlat ? `FLAT ${between(random, 1, 60)}` : '',
          random() < 0.99 ? pick(random, streets) : '',
          locality,
          town,
          district,
          county,
          random() < 0.95 ? 'A' : 'B',
          'A',
        ];
        return `"${fields.join('","')}"\n`;
      });
    },
  },
};
