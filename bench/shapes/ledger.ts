// Bookings as accounting programs of the continent export them: semicolons, CRLF, `31.12.2024`, `-1.234,56`, words beyond ASCII.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, moment, pick, randomFrom, skewed, sometimes, twoDigits } from '../random.ts';
import { params, type Shape } from './contract.ts';

const amount = (header: string) =>
  column.numeric(header, { precision: 14, scale: 2, decimal: ',', thousands: '.' });

const pipeline = definePipeline({
  name: 'bench_ledger',
  schema: 'bench_ledger',
  params,
  tables: ({ staging }) => ({
    ledger: {
      source: csv('*ledger.csv', { delimiter: ';' }),
      staging,
      columns: {
        number: column.integer('Belegnummer'),
        booked_on: column.date('Buchungsdatum', { format: 'DD.MM.YYYY' }),
        entered_at: column.timestamp('Erfasst am', { format: 'DD.MM.YYYY HH:mm:ss' }),
        account: column.integer('Konto'),
        contra: column.integer('Gegenkonto'),
        partner: column.text('Geschäftspartner').nullable(),
        iban: column.varchar('IBAN', { length: 34 }).nullable(),
        purpose: column.text('Verwendungszweck'),
        net: amount('Netto'),
        tax_rate: column.real('Steuersatz', { decimal: ',' }).nullable(),
        gross: amount('Brutto'),
        currency: column.varchar('Währung', { length: 3 }),
        settled: column.boolean('Ausgeglichen', { true: ['ja'], false: ['nein'] }),
      },
      primaryKey: ['number'],
    },
  }),
});

const partners = [
  '',
  'Müller & Söhne GmbH',
  'Bäckerei Groß',
  'Stadtwerke Köln',
  'Société Générale',
  'Łukasz Wiśniewski',
  'Office Supplies Ltd',
  'Deutsche Post AG',
];
const purposes = [
  'Rechnung',
  'Gutschrift',
  'Lastschrift Strom',
  'Miete Büro',
  'Löhne und Gehälter',
  'Skonto',
  'Reisekosten; Bewirtung',
  'Kfz-Steuer',
];

/** Hundredths as `-1.234,56`. */
const german = (hundredths: number): string => {
  const digits = Math.abs(hundredths);
  const whole = String(Math.floor(digits / 100)).replace(/\B(?=(?:\d{3})+$)/g, '.');
  return `${hundredths < 0 ? '-' : ''}${whole},${twoDigits(digits % 100)}`;
};

/** `DD.MM.YYYY` */
const germanDay = (at: Date): string =>
  `${twoDigits(at.getUTCDate())}.${twoDigits(at.getUTCMonth() + 1)}.${at.getUTCFullYear()}`;

export default pipeline;

export const shape: Shape = {
  name: 'ledger',
  title: 'dates `DD.MM.YYYY`, amounts `-1.234,56`, own words as booleans, texts beyond ASCII, CRLF',
  pipeline,
  files: {
    nameEnd: 'ledger.csv',
    headerLine:
      'Belegnummer;Buchungsdatum;Erfasst am;Konto;Gegenkonto;Geschäftspartner;IBAN;Verwendungszweck;Netto;Steuersatz;Brutto;Währung;Ausgeglichen\r\n',
    lines: (seed) => {
      const random = randomFrom(seed);
      let number = 4_000_000;
      return batchesOf(() => {
        number += 1;
        const booked = moment(random, 2015, 2024);
        const entered = new Date(booked.getTime() + skewed(random, 0, 20 * 86_400_000));
        const net = skewed(random, 100, 90_000_000) * (random() < 0.3 ? -1 : 1);
        const rate = pick(random, [0, 7, 19, 19]);
        return [
          number,
          germanDay(booked),
          `${germanDay(entered)} ${entered.toISOString().slice(11, 19)}`,
          between(random, 10_000, 99_999),
          pick(random, [1200, 1800, 3400, 4400, 8400]),
          pick(random, partners),
          sometimes(
            random,
            0.7,
            () => `DE${between(random, 10, 98)}3704004${between(random, 10_000_000_000, 99_999_999_999)}`,
          ),
          `"${pick(random, purposes)} ${between(random, 1, 99_999)}"`,
          german(net),
          rate === 0 ? '' : `${rate},0`,
          german(Math.round(net * (1 + rate / 100))),
          random() < 0.95 ? 'EUR' : 'CHF',
          `${random() < 0.85 ? 'ja' : 'nein'}\r\n`,
        ].join(';');
      });
    },
  },
};
