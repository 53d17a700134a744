// Hits of websites, as ClickBench has them: 105 columns, most of them small numbers or empty texts, every text in quotes, no header.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import {
  between,
  isoSecond,
  moment,
  phrase,
  pick,
  randomFrom,
  skewed,
  title,
  uuid,
  type Random,
} from '../random.ts';
import { params, type Shape } from './contract.ts';

/** Names in the order of the fields, each with its type in SQL. */
const layout = `watch_id bigint, java_enable smallint, title text, good_event smallint, event_time timestamp,
  event_date date, counter_id integer, client_ip integer, region_id integer, user_id bigint, counter_class smallint,
  os smallint, user_agent smallint, url text, referer text, is_refresh smallint, referer_category_id smallint,
  referer_region_id integer, url_category_id smallint, url_region_id integer, resolution_width smallint,
  resolution_height smallint, resolution_depth smallint, flash_major smallint, flash_minor smallint, flash_minor2 text,
  net_major smallint, net_minor smallint, user_agent_major smallint, user_agent_minor varchar(255),
  cookie_enable smallint, javascript_enable smallint, is_mobile smallint, mobile_phone smallint,
  mobile_phone_model text, params text, ip_network_id integer, trafic_source_id smallint, search_engine_id smallint,
  search_phrase text, adv_engine_id smallint, is_artifical smallint, window_client_width smallint,
  window_client_height smallint, client_time_zone smallint, client_event_time timestamp, silverlight_version1 smallint,
  silverlight_version2 smallint, silverlight_version3 integer, silverlight_version4 smallint, page_charset text,
  code_version integer, is_link smallint, is_download smallint, is_not_bounce smallint, funiq_id bigint,
  original_url text, hid integer, is_old_counter smallint, is_event smallint, is_parameter smallint,
  dont_count_hits smallint, with_hash smallint, hit_color varchar(1), local_event_time timestamp, age smallint,
  sex smallint, income smallint, interests smallint, robotness smallint, remote_ip integer, window_name integer,
  opener_name integer, history_length smallint, browser_language text, browser_country text, social_network text,
  social_action text, http_error smallint, send_timing integer, dns_timing integer, connect_timing integer,
  response_start_timing integer, response_end_timing integer, fetch_timing integer, social_source_network_id smallint,
  social_source_page text, param_price bigint, param_order_id text, param_currency text, param_currency_id smallint,
  openstat_service_name text, openstat_campaign_id text, openstat_ad_id text, openstat_source_id text, utm_source text,
  utm_medium text, utm_campaign text, utm_content text, utm_term text, from_tag text, has_gclid smallint,
  referer_hash bigint, url_hash bigint, clid integer`;

const fields = layout.split(/,\s+/).map((text) => text.split(' ') as [name: string, type: string]);
const header = fields.map(([name]) => name);

const columnOf = ([name, type]: readonly [name: string, type: string]) => {
  const length = /\((\d+)\)/.exec(type)?.[1];
  return length === undefined
    ? column[type as 'bigint' | 'date' | 'integer' | 'smallint' | 'text' | 'timestamp'](name)
    : column.varchar(name, { length: Number(length) });
};

const primaryKey = ['counter_id', 'event_date', 'user_id', 'event_time', 'watch_id'] as const;

const pipeline = definePipeline({
  name: 'bench_hits',
  schema: 'bench_hits',
  params,
  tables: ({ staging }) => ({
    hits: {
      // An empty text in quotes is a value.
      source: csv('*hits.csv', { header, quotedNulls: false }),
      staging,
      columns: Object.fromEntries(fields.map((field) => [field[0], columnOf(field)])),
      primaryKey,
    },
  }),
});

const titles = [
  'Подробнее о товаре',
  'Продажа автомобилей',
  'Погода в Москве на неделю',
  'Картинки',
  'Новости спорта',
];
const sites = [
  'example.ru',
  'auto.example.com',
  'kinopoisk.example',
  'yandex.example.ru',
  'liveinternet.example',
];

/** 18 or 19 digits, as a hash has. */
const hash = (random: Random): string =>
  `${between(random, 1, 9)}${String(Math.floor(random() * 1e9)).padStart(9, '0')}${between(random, 1e7, 1e8)}`;

const address = (random: Random): string => {
  const query = Array.from(
    { length: skewed(random, 0, 6) },
    () => `${pick(random, ['id', 'page', 'q', 'ref'])}=${uuid(random).slice(0, 12)}`,
  );
  return `http://${pick(random, sites)}/${pick(random, ['catalog', 'search', 'real-estate', 'news'])}/${between(random, 1, 1e6)}${query.length > 0 ? '?' : ''}${query.join('&')}`;
};

const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const aTime = (random: Random): string => inQuotes(isoSecond(moment(random, 2013, 2013)));

/** Fields that are not what most fields of their type are. */
const special: Readonly<Record<string, (random: Random) => string | number>> = {
  title: (random) =>
    inQuotes(
      `${pick(random, titles)} ${random() < 0.1 ? `"${title(random, 3)}"` : ''} - ${phrase(random, 9)}`,
    ),
  url: (random) => inQuotes(address(random)),
  referer: (random) => inQuotes(random() < 0.8 ? address(random) : ''),
  counter_id: (random) => skewed(random, 17, 270_000),
  client_ip: (random) => between(random, -2_147_483_648, 2_147_483_647),
  remote_ip: (random) => between(random, -2_147_483_648, 2_147_483_647),
  hid: (random) => between(random, 1, 2_147_483_647),
  region_id: (random) => skewed(random, 1, 9000),
  resolution_width: (random) => pick(random, [1024, 1280, 1366, 1638, 1920]),
  resolution_height: (random) => pick(random, [768, 800, 900, 1080]),
  window_client_width: (random) => between(random, 300, 1920),
  window_client_height: (random) => between(random, 200, 1080),
  flash_minor2: (random) => pick(random, ['"700"', '"800"', '"13.0"', '""']),
  user_agent_minor: (random) => pick(random, ['"D"', '"Ag"', '"66"', '"nA"']),
  mobile_phone_model: (random) => (random() < 0.06 ? '"iPad"' : '""'),
  search_phrase: (random) => inQuotes(random() < 0.13 ? phrase(random, 8) : ''),
  page_charset: (random) => pick(random, ['"windows-1251;charset"', '"utf-8"']),
  original_url: (random) => inQuotes(random() < 0.3 ? address(random) : ''),
  hit_color: (random) => pick(random, ['"5"', '"E"', '"F"', '"g"']),
  browser_language: () => '"ru"',
  browser_country: () => '"RU"',
  ip_network_id: (random) => between(random, 1, 4_000_000),
  window_name: (random) => (random() < 0.7 ? -1 : between(random, 1, 10_000)),
  opener_name: (random) => (random() < 0.7 ? -1 : between(random, 1, 10_000)),
  response_start_timing: (random) => skewed(random, 0, 3000),
  response_end_timing: (random) => skewed(random, 0, 3000),
  param_price: () => 0,
  param_currency: () => '"NH"',
};

const usual = (type: string): ((random: Random) => string | number) => {
  if (type === 'bigint') return hash;
  if (type === 'timestamp') return aTime;
  if (type === 'date') return (random) => inQuotes(`2013-07-${between(random, 10, 31)}`);
  if (type === 'smallint') return (random) => (random() < 0.6 ? 0 : skewed(random, 0, 120));
  if (type === 'integer') return (random) => (random() < 0.6 ? 0 : skewed(random, 0, 20_000));
  return () => '""';
};

export default pipeline;

export const shape: Shape = {
  name: 'hits',
  title: '105 columns: smallints, integers, bigints, timestamps and texts in quotes, most of them empty',
  pipeline,
  files: {
    nameEnd: 'hits.csv',
    headerLine: '',
    lines: (seed) => {
      const random = randomFrom(seed);
      const makers = fields.map(([name, type]) => special[name] ?? usual(type));
      return batchesOf(() => `${makers.map((make) => make(random)).join(',')}\n`);
    },
  },
};
