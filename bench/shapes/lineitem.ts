// Lines of orders as TPC-H has them: no header, no quotes, bars between the fields, ISO dates, decimals with two places.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, decimal, isoDay, pick, randomFrom } from '../random.ts';
import { params, type Shape } from './contract.ts';

const header = [
  'orderkey',
  'partkey',
  'suppkey',
  'linenumber',
  'quantity',
  'extendedprice',
  'discount',
  'tax',
  'returnflag',
  'linestatus',
  'shipdate',
  'commitdate',
  'receiptdate',
  'shipinstruct',
  'shipmode',
  'comment',
];

const amount = (name: string) => column.numeric(name, { precision: 15, scale: 2 });
const short = (name: string, length: number) => column.varchar(name, { length });

const pipeline = definePipeline({
  name: 'bench_lineitem',
  schema: 'bench_lineitem',
  params,
  tables: ({ staging }) => ({
    lineitem: {
      source: csv('*lineitem.tbl', { header, delimiter: '|', quote: null }),
      staging,
      columns: {
        orderkey: column.bigint('orderkey'),
        partkey: column.integer('partkey'),
        suppkey: column.integer('suppkey'),
        linenumber: column.integer('linenumber'),
        quantity: amount('quantity'),
        extendedprice: amount('extendedprice'),
        discount: amount('discount'),
        tax: amount('tax'),
        returnflag: short('returnflag', 1),
        linestatus: short('linestatus', 1),
        shipdate: column.date('shipdate'),
        commitdate: column.date('commitdate'),
        receiptdate: column.date('receiptdate'),
        shipinstruct: short('shipinstruct', 25),
        shipmode: short('shipmode', 10),
        comment: short('comment', 44),
      },
      primaryKey: ['orderkey', 'linenumber'],
    },
  }),
});

const instructions = ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'];
const modes = ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'];
const grammar =
  'furiously carefully quickly blithely ironic final pending express regular special accounts deposits packages requests theodolites sleep wake haggle nag along the above'.split(
    ' ',
  );

const comment = (random: () => number): string => {
  const most = between(random, 10, 43);
  let text = pick(random, grammar);
  while (text.length < most) text += ` ${pick(random, grammar)}`;
  return text.slice(0, most).trim();
};

const dayMs = 86_400_000;
const firstDay = Date.UTC(1992, 0, 1);

export default pipeline;

export const shape: Shape = {
  name: 'lineitem',
  title: 'bigint, integers, four numeric(15,2), three dates, five varchar; bars, no quotes',
  pipeline,
  files: {
    nameEnd: 'lineitem.tbl',
    headerLine: '',
    lines: (seed) => {
      const random = randomFrom(seed);
      let [order, line, lines, ordered] = [0, 0, 0, 0];
      return batchesOf(() => {
        if (line === lines) {
          // Orders have the first eight of each 32 keys.
          order += order % 8 === 7 ? 25 : 1;
          [line, lines, ordered] = [0, between(random, 1, 7), firstDay + between(random, 0, 2405) * dayMs];
        }
        line += 1;
        const part = between(random, 1, 2_000_000);
        const quantity = between(random, 1, 50);
        const shipped = ordered + between(random, 1, 121) * dayMs;
        const received = shipped + between(random, 1, 30) * dayMs;
        const isOld = received <= Date.UTC(1995, 5, 17);
        return `${[
          order,
          part,
          (part % 100_000) + 1,
          line,
          quantity,
          decimal(quantity * (90_000 + (((part / 10) % 20_001) | 0) + 100 * (part % 1000))),
          decimal(between(random, 0, 10)),
          decimal(between(random, 0, 8)),
          isOld ? pick(random, ['R', 'A']) : 'N',
          shipped > Date.UTC(1995, 5, 17) ? 'O' : 'F',
          isoDay(new Date(shipped)),
          isoDay(new Date(ordered + between(random, 30, 90) * dayMs)),
          isoDay(new Date(received)),
          pick(random, instructions),
          pick(random, modes),
          comment(random),
        ].join('|')}\n`;
      });
    },
  },
};
