// Compares the compiled decoder with the record decoder on dates and times in every spelling, with
// every delimiter, in one field or joined from two.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { type AnyColumn, column } from '../../../../src/pipeline/declare/column.ts';
import { binaryRecordDecoder, outcomeOf } from './both-decoders.ts';
import { blocksIn, decodedFile, tableOf } from './reading.ts';
import { searched } from '../../../helpers/seeded.ts';

type Headers = string | readonly [string, ...string[]];

const header = ['whole', 'left', 'right', 'other'];

const anyOf = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);
/** Numbers with and without leading zero, most of them valid. */
const upTo = (most: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.nat(most).map((value) => String(value).padStart(2, '0')) },
    { weight: 3, arbitrary: fc.nat(most).map(String) },
    { weight: 1, arbitrary: anyOf('00', '0', '24', '29', '31', '60', '99', '001', '') },
  );
const parts = {
  YYYY: fc.oneof(
    fc.integer({ min: 0, max: 9999 }).map((year) => String(year).padStart(4, '0')),
    anyOf('0001', '0000', '1900', '1999', '2000', '2012', '9999', '199', '12011'),
  ),
  YY: upTo(99),
  MMM: anyOf('Jan', 'FEB', 'mar', 'aPR', 'May', 'jun', 'Jul', 'aug', 'Sep', 'Oct', 'nov', 'Dec', 'Mai', 'Ja'),
  M: fc.oneof(upTo(12), anyOf('02')),
  D: fc.oneof(upTo(31), anyOf('28', '29', '30', '31')),
  H: upTo(23),
  m: upTo(59),
  A: anyOf('AM', 'PM', 'am', 'pM', 'A', 'xm'),
  S: fc.string({ unit: anyOf(...'0123456789'), maxLength: 7 }),
  Z: fc.oneof(
    anyOf('Z', 'Z', 'z', '+1', '+16', '-15:59:59', '+01:', '-16:00', ''),
    fc.tuple(anyOf('+', '-'), upTo(15), anyOf('', ':'), upTo(59)).map((pieces) => pieces.join('')),
    fc
      .tuple(anyOf('+', '-'), upTo(15), anyOf(':'), upTo(59), anyOf(':'), upTo(59))
      .map((pieces) => pieces.join('')),
  ),
};

/**
 * Makes texts of a form by replacing the names above. One byte of every fourth text is changed,
 * removed or inserted.
 */
const spellings = (form: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.tuple(
        ...((form.match(/YYYY|MMM|YY|[MDHmASZ]|./gu) ?? []) as readonly string[]).map((piece) =>
          piece in parts ? parts[piece as keyof typeof parts] : fc.constant(piece),
        ),
      ),
      fc.nat(3),
      fc.nat(30),
      anyOf('', ' ', '0', '9', '-', ':', 'T', 't', '.', '+', 'Z', '/', 'é', '\u0007'),
      fc.nat(1),
    )
    .map(([pieces, isChanged, at, other, width]) => {
      const text = pieces.join('');
      return isChanged > 0 || at > text.length ? text : text.slice(0, at) + other + text.slice(at + width);
    });

describe('compiled and record decoder of dates and times', () => {
  const iso = ['YYYY-M-D', 'YYYY-M-DTH:m', 'YYYY-M-D H:m:m', 'YYYY-M-DTH:m:m.S'];
  const isoTimes = ['H:m', 'H:m:m', 'H:m:m.S'];
  const withOffsets = [...iso, ...iso.map((form) => `${form}Z`)];
  const cases: [name: string, declare: (from: Headers) => AnyColumn, forms: readonly string[]][] = [
    ['date', (from) => column.date(from), iso],
    ['time', (from) => column.time(from), isoTimes],
    ['timestamp', (from) => column.timestamp(from), iso],
    ['timestamptz', (from) => column.timestamptz(from), withOffsets],
    [
      'timestamptz of a zone',
      (from) => column.timestamptz(from, { zone: '-03:30', tokens: { '-': '2011-01-01T00:53' } }),
      withOffsets,
    ],
    ['date YYYYMMDD', (from) => column.date(from, { format: 'YYYYMMDD' }), ['YYYYMD']],
    [
      'date M/D/YYYY',
      (from) => column.date(from, { format: 'M/D/YYYY', tokens: { '-': '1/2/2011', none: '0/0/0' } }),
      ['M/D/YYYY'],
    ],
    ['date D-MMM-YY', (from) => column.date(from, { format: 'D-MMM-YY' }), ['D-MMM-YY']],
    [
      'date D-MMM-YY with a pivot',
      (from) => column.date(from, { format: 'D-MMM-YY', pivot: 30 }),
      ['D-MMM-YY'],
    ],
    ['date – beyond ASCII', (from) => column.date(from, { format: 'D–M–YYYY€' }), ['D–M–YYYY€', 'D-M–YYYY€']],
    ['time hh:mm A', (from) => column.time(from, { format: 'hh:mm A' }), ['H:m A']],
    ['time Ah', (from) => column.time(from, { format: 'Ah' }), ['AH']],
    ['time HHmmssSSSS', (from) => column.time(from, { format: 'HHmmssSSSS' }), ['HmmS']],
    [
      'timestamp M/D/YYYY H:mm',
      (from) => column.timestamp(from, { format: 'M/D/YYYY H:mm' }),
      ['M/D/YYYY H:m'],
    ],
    [
      'timestamp h:mm:ss A',
      (from) => column.timestamp(from, { format: 'MM/DD/YYYY h:mm:ss A' }),
      ['M/D/YYYY H:m:m A'],
    ],
    ['timestamp of 1', (from) => column.timestamp(from, { format: '1D.MM.YYYY2H' }), ['1D.M.YYYY2H']],
    [
      'timestamptz of a log',
      (from) => column.timestamptz(from, { format: 'DD/MMM/YYYY:HH:mm:ss Z' }),
      ['D/MMM/YYYY:H:m:m Z'],
    ],
    [
      'date of three formats',
      (from) => column.date(from, { format: ['YYYY-MM-DD', 'D.M.YY', 'M/D/YYYY'] }),
      ['YYYY-M-D', 'D.M.YY', 'M/D/YYYY'],
    ],
    [
      'date with a time',
      (from) => column.date(from, { format: ['YYYY-MM-DDTHH:mmZ', 'YYYY-MM-DDZ'] }),
      ['YYYY-M-DT00:00Z', 'YYYY-M-DTH:mZ', 'YYYY-M-DZ'],
    ],
    [
      'date with a time that is dropped',
      (from) => column.date(from, { format: 'M/D/YYYY h:mm A', time: 'drop' }),
      ['M/D/YYYY H:m A'],
    ],
    [
      'timestamp, rounded, with any decimals',
      (from) => column.timestamp(from, { round: true }),
      ['YYYY-M-D H:m:m.S', 'YYYY-M-D H:m:m.S000000', 'YYYY-M-D 23:59:59.99999S'],
    ],
    [
      'time of nine decimals',
      (from) => column.time(from, { format: ['HH:mm:ss.SSSSSSSSS', 'HH:mm:ss.SSS', 'HH:mm'] }),
      ['H:m:m.S000', 'H:m:m.S', 'H:m'],
    ],
    [
      'timestamptz of a named zone',
      (from) => column.timestamptz(from, { zone: 'Europe/Berlin', ambiguous: 'later' }),
      withOffsets,
    ],
    [
      'timestamptz of a named zone and a format',
      (from) => column.timestamptz(from, { zone: 'Europe/Berlin', format: 'D.M.YYYY H:mm' }),
      ['D.M.YYYY H:m'],
    ],
    [
      'timestamptz Z first',
      (from) => column.timestamptz(from, { format: 'Z, HH.mm.ss.SS, YYYYMMDD' }),
      ['Z, H.m.m.S, YYYYMD'],
    ],
    [
      'timestamptz without offset',
      (from) => column.timestamptz(from, { format: 'D.M.YY', zone: '+05:45' }),
      ['D.M.YY'],
    ],
  ];
  // Bytes that could continue a value.
  const delimiters = ['|', '.', ':', '+', '0', 'P', 'Z'];
  const textsEach = searched(400);

  it.each(cases)('%s', async (_, declare, forms) => {
    const texts = fc.sample(
      fc.oneof(...forms.map(spellings), anyOf('', 'NA', '-', 'none', 'infinity', '-infinity')),
      { numRuns: textsEach * delimiters.length, seed: 20_110_101 },
    );
    let copied = 0;
    for (const [index, delimiter] of delimiters.entries()) {
      const columns = { whole: declare('whole').nullable(), glued: declare(['left', 'right']).nullable() };
      const table = tableOf({ delimiter, nulls: ['', 'NA'] }, { columns });
      const field = (text: string): string => (text.includes(delimiter) ? `"${text}"` : text);
      const lines = texts
        .slice(textsEach * index, textsEach * (index + 1))
        .map((text, n) => [text, text.slice(0, n % 30), text.slice(n % 30), '5'].map(field).join(delimiter));
      const blocks = await blocksIn(table, [Buffer.from(lines.join('\n'))], header.length);
      const outcome = outcomeOf(blocks, createCompiledDecoder(table, decodedFile(header)));
      expect(outcome).toEqual(outcomeOf(blocks, binaryRecordDecoder(table, decodedFile(header))));
      copied += outcome.counts.copied;
    }
    expect(copied / texts.length).toBeGreaterThan(0.1);
  });
});
