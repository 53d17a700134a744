// Orders of a shop, as any system exports them: a UUID, moments in ISO 8601, an amount, a flag, a note.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import {
  between,
  decimal,
  isoSecond,
  moment,
  phrase,
  pick,
  quoted,
  randomFrom,
  skewed,
  sometimes,
  uuid,
  type Random,
} from '../random.ts';
import { othersOf, params, type Shape } from './contract.ts';

export const columns = {
  id: column.uuid('id'),
  created_at: column.timestamptz('created_at'),
  updated_at: column.timestamp('updated_at'),
  customer: column.integer('customer'),
  amount: column.numeric('amount'),
  paid: column.boolean('paid'),
  country: column.varchar('country', { length: 2 }),
  note: column.text('note').nullable(),
};

export const primaryKey = ['id'] as const;

const pipeline = definePipeline({
  name: 'bench_orders',
  schema: 'bench_orders',
  params,
  tables: ({ staging }) => ({
    orders: {
      source: csv('*orders.csv'),
      staging,
      columns,
      primaryKey,
    },
  }),
});

const countries = ['DE', 'DE', 'DE', 'FR', 'NL', 'AT', 'PL', 'IT', 'ES', 'SE', 'US', 'GB'];

/** Orders of moments that are given, or of four years. */
export const orderLines = {
  headerLine: 'id,created_at,updated_at,customer,amount,paid,country,note\n',
  lines: (
    seed: number,
    createdAt: (random: Random) => Date = (random) => moment(random, 2022, 2025),
  ): Generator<readonly string[], never> => {
    const random = randomFrom(seed);
    return batchesOf(() => {
      const created = createdAt(random);
      const updated = new Date(created.getTime() + skewed(random, 0, 30 * 86_400_000));
      return [
        uuid(random),
        created.toISOString(),
        isoSecond(updated, 'T'),
        between(random, 1, 400_000),
        decimal(skewed(random, 99, 250_000)),
        random() < 0.9,
        pick(random, countries),
        `${sometimes(random, 0.4, () => quoted(phrase(random, 12)))}\n`,
      ].join(',');
    });
  },
};

export default pipeline;

export const shape: Shape = {
  name: 'orders',
  title: 'uuid, timestamptz and timestamp in ISO 8601, numeric without precision, boolean, text',
  pipeline,
  files: {
    nameEnd: 'orders.csv',
    ...orderLines,
  },
  night: {
    key: primaryKey,
    others: othersOf(columns, primaryKey),
    change: (line) => line.replace(/,(true|false),[A-Z]{2},/, ',$1,XX,'),
    renew: (line, random) => `${uuid(random)}${line.slice(36)}`,
  },
};
