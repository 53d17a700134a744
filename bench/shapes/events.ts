// Events of a website: UUIDs, moments with milliseconds, addresses of pages, properties as quoted JSON.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import {
  between,
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
  event_id: column.uuid('event_id'),
  occurred_at: column.timestamptz('occurred_at'),
  session_id: column.uuid('session_id'),
  user_id: column.bigint('user_id').nullable(),
  name: column.text('name'),
  url: column.text('url'),
  referrer: column.text('referrer').nullable(),
  user_agent: column.text('user_agent'),
  country: column.varchar('country', { length: 2 }).nullable(),
  is_bot: column.boolean('is_bot'),
  duration_ms: column.integer('duration_ms').nullable(),
  properties: column.jsonb('properties'),
};

export const primaryKey = ['event_id'] as const;

const pipeline = definePipeline({
  name: 'bench_events',
  schema: 'bench_events',
  params,
  tables: ({ staging }) => ({
    events: {
      source: csv('*events.csv'),
      staging,
      columns,
      primaryKey,
    },
  }),
});

const names = ['page_view', 'page_view', 'page_view', 'click', 'scroll', 'add_to_cart', 'purchase', 'search'];
const pages = [
  '/',
  '/products/',
  '/cart',
  '/search?q=',
  '/blog/how-to-choose-a-bicycle',
  '/konto/übersicht',
  '/de/kategorie/fahrräder?sort=preis&seite=',
];
const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
];

const propertiesOf = (random: Random, name: string): object => ({
  viewport: { width: pick(random, [390, 1280, 1440, 1920]), height: between(random, 600, 1200) },
  experiments: Array.from({ length: skewed(random, 0, 3) }, () => `exp-${between(random, 100, 180)}`),
  ...(name === 'purchase' && {
    total: between(random, 500, 50_000) / 100,
    currency: 'EUR',
    items: Array.from({ length: skewed(random, 1, 5) }, () => ({
      sku: `A${between(random, 1000, 9999)}`,
      qty: skewed(random, 1, 4),
    })),
  }),
  ...(name === 'search' && { query: phrase(random, 5), results: skewed(random, 0, 500) }),
  ...(name === 'scroll' && { depth: Math.round(random() * 1000) / 1000 }),
  consent: random() < 0.7,
  campaign: random() < 0.2 ? 'spring-sale' : null,
});

export default pipeline;

export const shape: Shape = {
  name: 'events',
  title: 'two uuids, timestamptz, bigint, long texts, boolean, jsonb of some 130 bytes',
  pipeline,
  files: {
    nameEnd: 'events.csv',
    headerLine:
      'event_id,occurred_at,session_id,user_id,name,url,referrer,user_agent,country,is_bot,duration_ms,properties\n',
    lines: (seed) => {
      const random = randomFrom(seed);
      return batchesOf(() => {
        const name = pick(random, names);
        return [
          uuid(random),
          moment(random, 2025, 2025).toISOString(),
          uuid(random),
          sometimes(random, 0.6, () => String(4_000_000_000 + between(random, 1, 9_000_000))),
          name,
          `https://shop.example${pick(random, pages)}${between(random, 1, 90_000)}`,
          sometimes(random, 0.5, () =>
            pick(random, [
              'https://www.google.com/',
              'https://duckduckgo.com/',
              'https://news.example/2025/06/?utm_source=newsletter',
            ]),
          ),
          quoted(pick(random, agents)),
          sometimes(random, 0.98, () => pick(random, ['DE', 'FR', 'US', 'PL', 'NL'])),
          random() < 0.04,
          sometimes(random, 0.8, () => String(skewed(random, 10, 180_000))),
          `${quoted(JSON.stringify(propertiesOf(random, name)))}\n`,
        ].join(',');
      });
    },
  },
  night: {
    key: primaryKey,
    others: othersOf(columns, primaryKey),
    change: (line) => line.replace(/,(true|false),/, (_, isBot) => `,${isBot === 'false'},`),
    renew: (line, random) => `${uuid(random)}${line.slice(36)}`,
  },
};
