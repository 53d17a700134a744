// Every built-in column type in every spelling that it takes: what the matrix measures, four columns of one at a time.

import { column } from 'sluice';
import {
  between,
  decimal,
  isoDay,
  isoSecond,
  moment,
  phrase,
  pick,
  skewed,
  twoDigits,
  uuid,
  type Random,
} from '../random.ts';

export interface Spelling {
  /** Of the column type and the spelling; what --matrix and the recorded figures call it. */
  readonly name: string;
  /** The column of this header. */
  readonly column: (header: string) => object;
  /** A field as the file has it. */
  readonly field: (random: Random) => string;
}

const spelling = (
  name: string,
  declare: (header: string) => object,
  field: (random: Random) => string,
): Spelling => ({ name, column: declare, field });

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const names = [
  'Hauptbahnhof',
  'Görlitzer Straße',
  'São Paulo',
  'Łódź Fabryczna',
  'Москва',
  '東京駅',
  'Ærøskøbing',
];

const at = (random: Random): Date => moment(random, 1990, 2025);
const day = (date: Date): number => date.getUTCDate();
const month = (date: Date): number => date.getUTCMonth() + 1;
const year = (date: Date): number => date.getUTCFullYear();
const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, (_, n) => between(random, n === 0 ? 1 : 0, 9)).join('');
const signed = (random: Random, most: number): number => (random() < 0.2 ? -1 : 1) * skewed(random, 0, most);
/** With a character between groups of three digits. */
const grouped = (value: number, separator: string): string =>
  String(value).replace(/\B(?=(?:\d{3})+$)/g, separator);
const hour12 = (date: Date): string => String(date.getUTCHours() % 12 || 12);
const half = (date: Date): string => (date.getUTCHours() < 12 ? 'AM' : 'PM');
const clock = (date: Date): string => date.toISOString().slice(11, 19);
const document = (random: Random): object => ({
  id: between(random, 1, 90_000),
  tags: Array.from({ length: between(random, 0, 3) }, () => pick(random, ['new', 'sale', 'größer'])),
  total: skewed(random, 0, 90_000) / 100,
  note: phrase(random, 6),
  gift: random() < 0.5,
  parent: null,
});
/** Words of ASCII; never empty, which would be a missing value. */
const plain = (random: Random): string => `to ${phrase(random, 4).replaceAll(/[^a-z ]/g, '')}`;
const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const texts: readonly Spelling[] = [
  spelling('text', column.text, plain),
  spelling('text beyond ASCII', column.text, (random) => pick(random, names)),
  spelling('text in quotes', column.text, (random) =>
    inQuotes(`${phrase(random, 4)}, "${digits(random, 2)}"`),
  ),
  spelling(
    'varchar',
    (header) => column.varchar(header, { length: 12 }),
    (random) => `DE${digits(random, 8)}`,
  ),
  spelling(
    'varchar beyond ASCII',
    (header) => column.varchar(header, { length: 20 }),
    (random) => pick(random, names),
  ),
];

const numbers: readonly Spelling[] = [
  spelling('smallint', column.smallint, (random) => String(signed(random, 32_767))),
  spelling('integer', column.integer, (random) => String(signed(random, 2_000_000_000))),
  spelling(
    'integer 1,234',
    (header) => column.integer(header, { thousands: ',' }),
    (random) => inQuotes(grouped(skewed(random, 0, 2_000_000_000), ',')),
  ),
  spelling('bigint', column.bigint, (random) => digits(random, between(random, 8, 18))),
  spelling('real', column.real, (random) => decimal(signed(random, 90_000))),
  spelling(
    'real 1,5',
    (header) => column.real(header, { decimal: ',' }),
    (random) => inQuotes(decimal(signed(random, 90_000)).replace('.', ',')),
  ),
  spelling('double', column.double, (random) => decimal(signed(random, 90_000_000))),
  spelling(
    'double of 16 digits',
    column.double,
    (random) => `${between(random, 1, 89)}.${digits(random, 14)}`,
  ),
  spelling(
    'double 1.5e-7',
    column.double,
    (random) => `${decimal(between(random, 100, 999))}e-${between(random, 1, 20)}`,
  ),
  spelling(
    'numeric(10,2)',
    (header) => column.numeric(header, { precision: 10, scale: 2 }),
    (random) => decimal(signed(random, 90_000_000)),
  ),
  spelling('numeric', column.numeric, (random) => decimal(signed(random, 90_000_000))),
  spelling('numeric of 20 digits', column.numeric, (random) => `${digits(random, 12)}.${digits(random, 8)}`),
  spelling(
    'numeric 1.5e3',
    column.numeric,
    (random) => `${decimal(between(random, 100, 999))}e${between(random, 0, 6)}`,
  ),
  spelling(
    'numeric(12,2) 1.234,56',
    (header) => column.numeric(header, { precision: 12, scale: 2, decimal: ',', thousands: '.' }),
    (random) => {
      const value = skewed(random, 0, 900_000_000);
      return inQuotes(`${grouped(Math.floor(value / 100), '.')},${twoDigits(value % 100)}`);
    },
  ),
  spelling(
    'numeric(10,2), rounded',
    (header) => column.numeric(header, { precision: 10, scale: 2, round: true }),
    (random) => `${decimal(signed(random, 90_000_000))}${digits(random, 3)}`,
  ),
];

const booleans: readonly Spelling[] = [
  spelling('boolean true', column.boolean, (random) => String(random() < 0.5)),
  spelling('boolean t', column.boolean, (random) => (random() < 0.5 ? 't' : 'f')),
  spelling('boolean 1', column.boolean, (random) => (random() < 0.5 ? '1' : '0')),
  spelling('boolean YES', column.boolean, (random) => (random() < 0.5 ? 'YES' : 'No')),
  spelling(
    'boolean, own tokens',
    (header) => column.boolean(header, { true: ['ja', 'J'], false: ['nein', 'N'] }),
    (random) => pick(random, ['ja', 'nein', 'J', 'N']),
  ),
  spelling(
    'boolean, else',
    (header) => column.boolean(header, { true: ['VR'], else: false }),
    (random) => (random() < 0.1 ? 'VR' : String(between(random, 0, 36))),
  ),
];

const moments: readonly Spelling[] = [
  spelling('date', column.date, (random) => isoDay(at(random))),
  spelling(
    'date YYYYMMDD',
    (header) => column.date(header, { format: 'YYYYMMDD' }),
    (random) => isoDay(at(random)).replaceAll('-', ''),
  ),
  spelling(
    'date DD.MM.YYYY',
    (header) => column.date(header, { format: 'DD.MM.YYYY' }),
    (random) => isoDay(at(random)).split('-').reverse().join('.'),
  ),
  spelling(
    'date M/D/YYYY',
    (header) => column.date(header, { format: 'M/D/YYYY' }),
    (random) => {
      const date = at(random);
      return `${month(date)}/${day(date)}/${year(date)}`;
    },
  ),
  spelling(
    'date D MMM YY',
    (header) => column.date(header, { format: 'D MMM YY' }),
    (random) => {
      const date = at(random);
      return `${day(date)} ${months[month(date) - 1]} ${twoDigits(year(date) % 100)}`;
    },
  ),
  spelling('time', column.time, (random) => clock(at(random))),
  spelling('time HH:mm', column.time, (random) => clock(at(random)).slice(0, 5)),
  spelling('time with decimals', column.time, (random) => `${clock(at(random))}.${digits(random, 6)}`),
  spelling(
    'time h:mm A',
    (header) => column.time(header, { format: 'h:mm A' }),
    (random) => {
      const date = at(random);
      return `${hour12(date)}:${twoDigits(date.getUTCMinutes())} ${half(date)}`;
    },
  ),
  spelling('timestamp', column.timestamp, (random) => isoSecond(at(random), 'T')),
  spelling('timestamp with a blank', column.timestamp, (random) => isoSecond(at(random))),
  spelling(
    'timestamp with decimals',
    column.timestamp,
    (random) => `${isoSecond(at(random))}.${digits(random, 6)}`,
  ),
  spelling(
    'timestamp YYYYMMDDHHmm',
    (header) => column.timestamp(header, { format: 'YYYYMMDDHHmm' }),
    (random) => isoSecond(at(random)).replaceAll(/\D/g, '').slice(0, 12),
  ),
  spelling(
    'timestamp M/D/YYYY H:mm',
    (header) => column.timestamp(header, { format: 'M/D/YYYY H:mm' }),
    (random) => {
      const date = at(random);
      return `${month(date)}/${day(date)}/${year(date)} ${date.getUTCHours()}:${twoDigits(date.getUTCMinutes())}`;
    },
  ),
  spelling(
    'timestamp MM/DD/YYYY hh:mm:ss A',
    (header) => column.timestamp(header, { format: 'MM/DD/YYYY hh:mm:ss A' }),
    (random) => {
      const date = at(random);
      const [first, ...rest] = clock(date).split(':');
      return `${twoDigits(month(date))}/${twoDigits(day(date))}/${year(date)} ${twoDigits(Number(first) % 12 || 12)}:${rest.join(':')} ${half(date)}`;
    },
  ),
  spelling('timestamptz Z', column.timestamptz, (random) => at(random).toISOString()),
  spelling('timestamptz +02:00', column.timestamptz, (random) => `${isoSecond(at(random), 'T')}+02:00`),
  spelling('timestamptz -05', column.timestamptz, (random) => `${isoSecond(at(random))}-05`),
  spelling(
    'timestamptz, zone',
    (header) => column.timestamptz(header, { zone: 'UTC' }),
    (random) => isoSecond(at(random)),
  ),
  spelling(
    'timestamptz DD/MMM/YYYY:HH:mm:ss Z',
    (header) => column.timestamptz(header, { format: 'DD/MMM/YYYY:HH:mm:ss Z' }),
    (random) => {
      const date = at(random);
      return `${twoDigits(day(date))}/${months[month(date) - 1]}/${year(date)}:${clock(date)} +0200`;
    },
  ),
];

const others: readonly Spelling[] = [
  spelling('uuid', column.uuid, uuid),
  spelling('uuid {A0EE}', column.uuid, (random) => `{${uuid(random).toUpperCase()}}`),
  spelling('uuid of 32 digits', column.uuid, (random) => uuid(random).replaceAll('-', '')),
  spelling('json', column.json, (random) => inQuotes(JSON.stringify(document(random)))),
  spelling('jsonb', column.jsonb, (random) => inQuotes(JSON.stringify(document(random)))),
  spelling('jsonb, short', column.jsonb, (random) => inQuotes(`{"a":${between(random, 0, 99)}}`)),
];

/** What a column may have besides its type. */
const modifiers: readonly Spelling[] = [
  spelling(
    'integer, half of it missing',
    (header) => column.integer(header).nullable(),
    (random) => (random() < 0.5 ? '' : String(skewed(random, 0, 90_000))),
  ),
  spelling(
    'real, tokens and nulls',
    (header) => column.real(header, { nulls: ['M'], tokens: { T: '0' } }).nullable(),
    (random) => pick(random, ['M', 'T', decimal(skewed(random, 0, 900))]),
  ),
  spelling(
    'integer with .min and .max',
    (header) => column.integer(header).min(0).max(90_000),
    (random) => String(skewed(random, 0, 90_000)),
  ),
  spelling(
    'numeric(10,2) with .min',
    (header) => column.numeric(header, { precision: 10, scale: 2 }).min('0'),
    (random) => decimal(skewed(random, 0, 90_000)),
  ),
  spelling(
    'text with .oneOf',
    (header) => column.text(header).oneOf(['AA', 'SP', 'FM-15']),
    (random) => pick(random, ['AA', 'SP', 'FM-15']),
  ),
  spelling('text with .length', (header) => column.text(header).length({ min: 2, max: 40 }), plain),
  spelling(
    'text with .pattern',
    (header) => column.text(header).pattern(/^DE\d+$/),
    (random) => `DE${digits(random, 8)}`,
  ),
  spelling(
    'integer with .check',
    (header) => column.integer(header).check((value: number) => value >= 0, 'is negative'),
    (random) => String(skewed(random, 0, 90_000)),
  ),
  spelling(
    'text with .check',
    (header) => column.text(header).check((value: string) => value.length > 1, 'is short'),
    (random) => `DE${digits(random, 8)}`,
  ),
  spelling(
    'text with .map',
    (header) => column.text(header).map((value: string) => value.toUpperCase()),
    plain,
  ),
];

export const spellings: readonly Spelling[] = [
  ...texts,
  ...numbers,
  ...booleans,
  ...moments,
  ...others,
  ...modifiers,
];
