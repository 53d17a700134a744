// date, time, timestamp and timestamptz in ISO 8601 and in patterns.

import { describe, expect, it } from 'vitest';
import { dateType, timestampType, timestamptzType, timeType } from '../../../../src/format/types/datetime.ts';
import { words } from '../../../helpers/words.ts';
import { describeReader, describeValues } from './reader-cases.ts';

describeReader(
  'date',
  dateType,
  {},
  words('2011-01-31 2012-02-29 2000-02-29 0001-01-01 9999-12-31 infinity -infinity'),
  {
    type: [
      ['', '"" is not a date (YYYY-MM-DD)'],
      '2011-01-01 ',
      ...words('2011-1-1 20110101 01/02/2011 2011-01-01T00:00 +011-01-01 2011-01-0x Infinity today'),
    ],
    range: [
      ['2011-02-30', '2011-02-30 is not a day of the calendar'],
      ...words('2011-02-29 1900-02-29 2011-04-31 2011-13-01 2011-00-01 2011-01-00 0000-01-01'),
    ],
  },
);

describeReader(
  'time',
  timeType,
  {},
  [
    [`12:30:01.5${'0'.repeat(200)}`, '12:30:01.500000'],
    ...words('00:00 23:59:59.999999 12:30:01 12:30:01.5 12:30:01.1234560→12:30:01.123456'),
  ],
  {
    type: words('1:00 12 12:3 12:30: 12:30:01. 12:30Z infinity'),
    range: [
      ['12:30:01.1234567', '12:30:01.1234567 has 7 decimals of a second, time keeps 6; set round: true'],
      ['24:00', '24:00 is not a time of day'],
      '12:60',
      '12:59:60',
    ],
  },
);

describeReader(
  'timestamp',
  timestampType,
  {},
  ['2011-01-01T00:53', '2011-01-01 00:53:01', '2011-01-01 00:53:01.123456', 'infinity'],
  {
    type: [
      '2011-01-01  00:53',
      ...words('2011-01-01 2011-01-01t00:53 2011-01-01T00:53Z 2011-01-01T00:53+01'),
    ],
    range: [
      ['2011-02-30T00:53', '2011-02-30 is not a day of the calendar'],
      ['2011-01-01T24:00', '24:00 is not a time of day'],
    ],
  },
);

describeReader(
  'timestamptz',
  timestamptzType,
  {},
  [
    '2011-01-01 00:53:01.5+01',
    ...words('2011-01-01T00:53Z 2011-01-01T00:53-01:30 2011-01-01T00:53+15:59:59 -infinity'),
  ],
  {
    type: [
      '2011-01-01T00:53 Z',
      ...words(`
    2011-01-01T00:53 2011-01-01T00:53+1 2011-01-01T00:53+0100 2011-01-01T00:53+01:
    2011-01-01T00:53+01:00: 2011-01-01T00:53ZZ 2011-01-01T00:53z 2011-01-01Z`),
    ],
    range: [
      ['2011-01-01T00:53+16', '+16 is not an offset from UTC'],
      '2011-01-01T00:53+01:60',
      '2011-02-30T00:53Z',
      ['2011-01-01T25:53Z', '25:53 is not a time of day'],
    ],
  },
);

describeReader(
  'timestamptz in UTC unless the text says otherwise',
  timestamptzType,
  { zone: 'UTC' },
  words('2011-01-01T00:53→2011-01-01T00:53Z 2011-01-01T00:53+01:00 infinity'),
  { range: ['2011-02-30T00:53'] },
);

describeReader('timestamptz at +01:00', timestamptzType, { zone: '+01:00' }, [
  '2011-01-01 00:53:10→2011-01-01 00:53:10+01:00',
  '2011-01-01T00:53Z',
]);

describeReader(
  'timestamp written as YYYYMMDDHHmm',
  timestampType,
  { format: 'YYYYMMDDHHmm' },
  ['201101010053→2011-01-01T00:53:00', '999912312359→9999-12-31T23:59:00'],
  {
    type: [
      ['2011010100531', '"2011010100531" is not a timestamp written as YYYYMMDDHHmm'],
      '20110101005',
      '2011010100 3',
      'infinity',
    ],
    range: [
      ['201102300053', '2011-02-30 is not a day of the calendar'],
      ['201101012400', '201101012400 is not a time of day'],
      '000001010000',
    ],
  },
);

describeReader(
  'date written as D.M.YYYY',
  dateType,
  { format: 'D.M.YYYY' },
  words('1.2.2011→2011-02-01 01.02.2011→2011-02-01 31.12.2011→2011-12-31'),
  { type: ['001.2.2011', '.2.2011'], range: ['0.2.2011', '30.2.2011'] },
);

describeReader(
  'date written as DD-MMM-YY',
  dateType,
  { format: 'DD-MMM-YY' },
  words('01-Jan-68→2068-01-01 01-FEB-69→1969-02-01 29-dec-00→2000-12-29'),
  { type: ['01-Jux-68'], range: ['29-Feb-01'] },
);

describeReader(
  'date written as DD-MMM-YY with a pivot',
  dateType,
  { format: 'DD-MMM-YY', pivot: 30 },
  words('31-DEC-45→1945-12-31 01-Jan-30→1930-01-01 01-Jan-29→2029-01-01'),
  { type: ['01-Jux-68'], range: ['29-Feb-01'] },
);

describeReader(
  'timestamp on the 12 h clock',
  timestampType,
  { format: 'MM/DD/YYYY h:mm:ss A' },
  [
    '01/02/2011 12:00:00 AM→2011-01-02T00:00:00',
    '01/02/2011 12:00:01 pm→2011-01-02T12:00:01',
    '01/02/2011 1:30:00 PM→2011-01-02T13:30:00',
    '01/02/2011 11:30:00 am→2011-01-02T11:30:00',
  ],
  { range: ['01/02/2011 13:00:00 PM', '01/02/2011 0:00:00 AM'], type: ['01/02/2011 1:00:00 XM'] },
);

describeReader(
  'timestamptz with an offset in its pattern',
  timestamptzType,
  { format: 'YYYY-MM-DDTHH:mm:ss.SSSZ' },
  words(`
    2011-01-01T00:53:01.123Z→2011-01-01T00:53:01.123Z
    2011-01-01T00:53:01.123+0100→2011-01-01T00:53:01.123+01:00
    2011-01-01T00:53:01.123-01→2011-01-01T00:53:01.123-01
    2011-01-01T00:53:01.123-01:30:15→2011-01-01T00:53:01.123-01:30:15`),
  {
    type: words('2011-01-01T00:53:01.12Z 2011-01-01T00:53:01.123 2011-01-01T00:53:01.123+010203'),
    range: [['2011-01-01T00:53:01.123+1600', '+16:00 is not an offset from UTC']],
  },
);

describeReader(
  'timestamptz with a pattern and a zone',
  timestamptzType,
  { format: 'YYYYMMDD', zone: '-05:00' },
  ['20110101→2011-01-01T00:00:00-05:00'],
);

describeReader('time written as HHmm', timeType, { format: 'HHmm' }, ['0053→00:53:00', '2359→23:59:00'], {
  type: ['53'],
  range: ['2400'],
});

describeReader('time of an unpadded hour', timeType, { format: 'H' }, ['7→07:00:00', '23→23:00:00'], {
  range: ['24'],
  type: [''],
});

const moment = new Date(Date.UTC(2011, 0, 2, 3, 4, 5, 6));

describeValues(
  dateType,
  [['2011-01-02', '2011-01-02']],
  [
    [moment, '2011-01-02'],
    ['2011-01-02', '2011-01-02'],
    [5, undefined],
  ],
);
describeValues(
  timeType,
  [['03:04', '03:04']],
  [
    [moment, undefined],
    ['03:04', '03:04'],
  ],
);
describeValues(
  timestampType,
  [
    ['2011-01-02 03:04', '2011-01-02T03:04'],
    ['infinity', 'infinity'],
  ],
  [
    [moment, '2011-01-02T03:04:05.006'],
    [new Date(NaN), undefined],
  ],
);
describeValues(
  timestamptzType,
  [['2011-01-02 03:04Z', '2011-01-02T03:04Z']],
  [[moment, '2011-01-02T03:04:05.006Z']],
);

describeReader(
  'time, rounded',
  timeType,
  { round: true },
  words(`
    12:30:01.1234565→12:30:01.123456 12:30:01.1234575→12:30:01.123458 12:59:59.9999999→13:00:00
    23:59:59.9999999→24:00:00 12:30:01.5`),
  { range: ['24:00:00.9999999'] },
);

describeReader(
  'timestamp, rounded',
  timestampType,
  { round: true },
  [
    '2011-12-31T23:59:59.9999999→2012-01-01T00:00:00',
    '0099-12-31 23:59:59.9999999→0100-01-01T00:00:00',
    '2011-12-31 22:59:59.99999949→2011-12-31 22:59:59.999999',
  ],
  {
    range: [['9999-12-31T23:59:59.9999999', '9999-12-31T23:59:59.9999999 rounds to a day after 9999-12-31']],
  },
);

describeReader('timestamptz, rounded, of a zone', timestamptzType, { round: true, zone: 'Europe/Berlin' }, [
  '2011-01-31T00:53:00.9999999Z→2011-01-31T00:53:01Z',
  '2011-03-27 01:59:59.9999999→2011-03-27T02:00:00+01:00',
]);

describeReader(
  'timestamp with seven decimals in its format',
  timestampType,
  { format: 'YYYYMMDDHHmmss.SSSSSSS' },
  ['20110131005301.1234560→2011-01-31T00:53:01.123456'],
  { range: ['20110131005301.1234567'], type: ['20110131005301.123456'] },
);

describeReader(
  'date with an offset',
  dateType,
  { format: 'YYYY-MM-DDZ' },
  words('2011-01-31+01:00→2011-01-31 2011-01-31Z→2011-01-31 2011-01-31-11:00→2011-01-31'),
  { type: ['2011-01-31'], range: ['2011-01-31+16:00'] },
);

describeReader(
  'date with a time of day',
  dateType,
  { format: 'YYYY-MM-DDTHH:mm:ss.SSSZ' },
  ['2011-01-31T00:00:00.000+01:00→2011-01-31'],
  {
    range: [
      [
        '2011-01-31T00:00:00.001Z',
        '"2011-01-31T00:00:00.001Z" has a time of day, which a date cannot store; use timestamp, or set time: \'drop\'',
      ],
      '2011-01-31T24:00:00.000Z',
    ],
  },
);

describeReader(
  'date with a time of day that is dropped',
  dateType,
  { format: ['M/D/YYYY h:mm A', 'M/D/YYYY'], time: 'drop' },
  ['1/31/2011 11:53 PM→2011-01-31', '1/31/2011 12:00 AM→2011-01-31'],
  { range: ['1/31/2011 13:00 PM'] },
);

describeReader(
  'date of several formats',
  dateType,
  { format: ['YYYY-MM-DD', 'M/D/YYYY', 'DD.MM.YY'] },
  words('2011-01-31 1/31/2011→2011-01-31 31.01.11→2011-01-31'),
  {
    range: [['31/1/2011', '2011-31-01 is not a day of the calendar']],
    type: [['20110131', '"20110131" is not a date written as YYYY-MM-DD or M/D/YYYY or DD.MM.YY']],
  },
);

describe('timestamptz of a named zone', () => {
  const inBerlin = (ambiguous: object) => timestamptzType.reader({ zone: 'Europe/Berlin', ...ambiguous });

  it.each([
    ['2011-01-31 00:53', '2011-01-31 00:53+01:00'],
    ['2011-07-31T00:53:01.5', '2011-07-31T00:53:01.5+02:00'],
    ['2011-12-31T23:59', '2011-12-31T23:59+01:00'],
    ['1850-01-31T00:53', '1850-01-31T00:53+00:53:28'],
    ['0001-01-01T00:00', '0001-01-01T00:00+00:53:28'],
    ['9999-12-31T23:59:59', '9999-12-31T23:59:59+01:00'],
    ['1945-06-01T12:00', '1945-06-01T12:00+03:00'],
    ['2011-10-30T02:30Z', '2011-10-30T02:30Z'],
    ['infinity', 'infinity'],
  ])('%s is %s', (text, read) => expect(inBerlin({})(text)).toBe(read));

  it('an hour that is twice is the one that was declared', () => {
    const text = '2011-10-30T02:30';
    expect(inBerlin({})(text)).toEqual({
      code: 'range',
      reason:
        "\"2011-10-30T02:30\" occurs twice in Europe/Berlin, with +02:00 and +01:00; set ambiguous: 'earlier' or 'later'",
    });
    expect(inBerlin({ ambiguous: 'reject' })(text)).toEqual(inBerlin({})(text));
    expect(inBerlin({ ambiguous: 'earlier' })(text)).toBe(`${text}+02:00`);
    expect(inBerlin({ ambiguous: 'later' })(text)).toBe(`${text}+01:00`);
  });

  it.each([
    ['Europe/Berlin', '2011-03-27T02:00', 'clocks were set from +01:00 to +02:00'],
    ['Europe/Berlin', '2011-03-27T02:59:59.999999', 'does not exist in Europe/Berlin'],
    ['Pacific/Apia', '2011-12-30T12:00', 'clocks were set from -10:00 to +14:00'],
    ['Australia/Lord_Howe', '2011-10-02T02:15', 'clocks were set from +10:30 to +11:00'],
  ])('in %s there is no %s', (zone, text, reason) =>
    expect(timestamptzType.reader({ zone, ambiguous: 'later' })(text)).toEqual({
      code: 'range',
      reason: expect.stringContaining(reason) as string,
    }),
  );

  it('a format without an offset gets that of the zone', () => {
    const read = timestamptzType.reader({
      zone: 'America/New_York',
      format: ['M/D/YYYY H:mm', 'M/D/YYYY H:mmZ'],
    });
    expect(read('7/4/2011 9:05')).toBe('2011-07-04T09:05:00-04:00');
    expect(read('7/4/2011 9:05Z')).toBe('2011-07-04T09:05:00Z');
  });
});

describeReader(
  'date as the server spells it',
  dateType,
  { spelling: 'server' },
  [' 2011/01/31 →2011-01-31', ...words('2011-1-31→2011-01-31 20110131→2011-01-31 -Infinity→-infinity')],
  { type: ['Jan 31 2011', '2011-1-31 00:53', ...words('11-1-31 31.1.2011 today')], range: ['20110231'] },
);

describeReader(
  'timestamp as the server spells it',
  timestampType,
  { spelling: 'server' },
  [
    '20110131T005301→2011-01-31T00:53:01',
    '2011-1-31  1:05 PM→2011-01-31T13:05:00',
    '2011-1-31→2011-01-31T00:00',
  ],
  { type: ['2011-1-31 1:05+01', '2011-1-31 13:05 PM'], range: ['2011-1-31 24:00'] },
);

describeReader(
  'timestamptz as the server spells it',
  timestamptzType,
  { spelling: 'server', zone: 'Europe/Berlin' },
  [
    '2011-1-31 00:53 +1→2011-01-31T00:53:00+01:00:00',
    '2011-7-31 00:53 z→2011-07-31T00:53:00Z',
    '2011-7-31→2011-07-31T00:00+02:00',
  ],
  { type: ['2011-1-31 1:05 AM-01', '20110131T005300-05:00', '2011-1-31 1:05 +000:12'] },
);
