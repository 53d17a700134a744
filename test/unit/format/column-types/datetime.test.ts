// date, time, timestamp and timestamptz as ISO 8601 and by pattern.

import {
  dateType,
  timestampType,
  timestamptzType,
  timeType,
} from '../../../../src/format/column-types/datetime.ts';
import { describeReader, describeValues } from './reader-cases.ts';

describeReader(
  'date',
  dateType,
  {},
  [
    ['2011-01-31'],
    ['2012-02-29'],
    ['2000-02-29'],
    ['0001-01-01'],
    ['9999-12-31'],
    ['infinity'],
    ['-infinity'],
  ],
  [
    ['', 'type', '"" is not a date (YYYY-MM-DD)'],
    ['2011-1-1', 'type'],
    ['20110101', 'type'],
    ['01/02/2011', 'type'],
    ['2011-01-01 ', 'type'],
    ['2011-01-01T00:00', 'type'],
    ['+011-01-01', 'type'],
    ['2011-01-0x', 'type'],
    ['Infinity', 'type'],
    ['today', 'type'],
    ['2011-02-30', 'range', '2011-02-30 is not a day of the calendar'],
    ['2011-02-29', 'range'],
    ['1900-02-29', 'range'],
    ['2011-04-31', 'range'],
    ['2011-13-01', 'range'],
    ['2011-00-01', 'range'],
    ['2011-01-00', 'range'],
    ['0000-01-01', 'range'],
  ],
);

describeReader(
  'time',
  timeType,
  {},
  [['00:00'], ['23:59:59.999999'], ['12:30:01'], ['12:30:01.5']],
  [
    ['1:00', 'type'],
    ['12', 'type'],
    ['12:3', 'type'],
    ['12:30:', 'type'],
    ['12:30:01.', 'type'],
    ['12:30:01.1234567', 'type'],
    ['12:30Z', 'type'],
    ['infinity', 'type'],
    ['24:00', 'range', '24:00 is not a time of day'],
    ['12:60', 'range'],
    ['12:59:60', 'range'],
  ],
);

describeReader(
  'timestamp',
  timestampType,
  {},
  [['2011-01-01T00:53'], ['2011-01-01 00:53:01'], ['2011-01-01 00:53:01.123456'], ['infinity']],
  [
    ['2011-01-01', 'type'],
    ['2011-01-01  00:53', 'type'],
    ['2011-01-01t00:53', 'type'],
    ['2011-01-01T00:53Z', 'type'],
    ['2011-01-01T00:53+01', 'type'],
    ['2011-02-30T00:53', 'range', '2011-02-30 is not a day of the calendar'],
    ['2011-01-01T24:00', 'range', '24:00 is not a time of day'],
  ],
);

describeReader(
  'timestamptz',
  timestamptzType,
  {},
  [
    ['2011-01-01T00:53Z'],
    ['2011-01-01 00:53:01.5+01'],
    ['2011-01-01T00:53-01:30'],
    ['2011-01-01T00:53+15:59:59'],
    ['-infinity'],
  ],
  [
    ['2011-01-01T00:53', 'type'],
    ['2011-01-01T00:53+1', 'type'],
    ['2011-01-01T00:53+0100', 'type'],
    ['2011-01-01T00:53+01:', 'type'],
    ['2011-01-01T00:53+01:00:', 'type'],
    ['2011-01-01T00:53ZZ', 'type'],
    ['2011-01-01T00:53z', 'type'],
    ['2011-01-01T00:53 Z', 'type'],
    ['2011-01-01Z', 'type'],
    ['2011-01-01T00:53+16', 'range', '+16 is not an offset from UTC'],
    ['2011-01-01T00:53+01:60', 'range'],
    ['2011-02-30T00:53Z', 'range'],
    ['2011-01-01T25:53Z', 'range', '25:53 is not a time of day'],
  ],
);

describeReader(
  'timestamptz in UTC unless the text says otherwise',
  timestamptzType,
  { zone: 'UTC' },
  [['2011-01-01T00:53', '2011-01-01T00:53Z'], ['2011-01-01T00:53+01:00'], ['infinity']],
  [['2011-02-30T00:53', 'range']],
);

describeReader(
  'timestamptz at +01:00',
  timestamptzType,
  { zone: '+01:00' },
  [['2011-01-01 00:53:10', '2011-01-01 00:53:10+01:00'], ['2011-01-01T00:53Z']],
  [],
);

describeReader(
  'timestamp written as YYYYMMDDHHmm',
  timestampType,
  { format: 'YYYYMMDDHHmm' },
  [
    ['201101010053', '2011-01-01T00:53:00'],
    ['999912312359', '9999-12-31T23:59:00'],
  ],
  [
    ['2011010100531', 'type', '"2011010100531" is not a timestamp written as YYYYMMDDHHmm'],
    ['20110101005', 'type'],
    ['2011010100 3', 'type'],
    ['infinity', 'type'],
    ['201102300053', 'range', '2011-02-30 is not a day of the calendar'],
    ['201101012400', 'range', '201101012400 is not a time of day'],
    ['000001010000', 'range'],
  ],
);

describeReader(
  'date written as D.M.YYYY',
  dateType,
  { format: 'D.M.YYYY' },
  [
    ['1.2.2011', '2011-02-01'],
    ['01.02.2011', '2011-02-01'],
    ['31.12.2011', '2011-12-31'],
  ],
  [
    ['001.2.2011', 'type'],
    ['.2.2011', 'type'],
    ['0.2.2011', 'range'],
    ['30.2.2011', 'range'],
  ],
);

describeReader(
  'date written as DD-MMM-YY',
  dateType,
  { format: 'DD-MMM-YY' },
  [
    ['01-Jan-68', '2068-01-01'],
    ['01-FEB-69', '1969-02-01'],
    ['29-dec-00', '2000-12-29'],
  ],
  [
    ['01-Jux-68', 'type'],
    ['29-Feb-01', 'range'],
  ],
);

describeReader(
  'timestamp on the 12 h clock',
  timestampType,
  { format: 'MM/DD/YYYY h:mm:ss A' },
  [
    ['01/02/2011 12:00:00 AM', '2011-01-02T00:00:00'],
    ['01/02/2011 12:00:01 pm', '2011-01-02T12:00:01'],
    ['01/02/2011 1:30:00 PM', '2011-01-02T13:30:00'],
    ['01/02/2011 11:30:00 am', '2011-01-02T11:30:00'],
  ],
  [
    ['01/02/2011 13:00:00 PM', 'range'],
    ['01/02/2011 0:00:00 AM', 'range'],
    ['01/02/2011 1:00:00 XM', 'type'],
  ],
);

describeReader(
  'timestamptz with an offset in its pattern',
  timestamptzType,
  { format: 'YYYY-MM-DDTHH:mm:ss.SSSZ' },
  [
    ['2011-01-01T00:53:01.123Z', '2011-01-01T00:53:01.123Z'],
    ['2011-01-01T00:53:01.123+0100', '2011-01-01T00:53:01.123+01:00'],
    ['2011-01-01T00:53:01.123-01', '2011-01-01T00:53:01.123-01'],
    ['2011-01-01T00:53:01.123-01:30:15', '2011-01-01T00:53:01.123-01:30:15'],
  ],
  [
    ['2011-01-01T00:53:01.12Z', 'type'],
    ['2011-01-01T00:53:01.123', 'type'],
    ['2011-01-01T00:53:01.123+010203', 'type'],
    ['2011-01-01T00:53:01.123+1600', 'range', '+16:00 is not an offset from UTC'],
  ],
);

describeReader(
  'timestamptz with a pattern and a zone',
  timestamptzType,
  { format: 'YYYYMMDD', zone: '-05:00' },
  [['20110101', '2011-01-01T00:00:00-05:00']],
  [],
);

describeReader(
  'time written as HHmm',
  timeType,
  { format: 'HHmm' },
  [
    ['0053', '00:53:00'],
    ['2359', '23:59:00'],
  ],
  [
    ['53', 'type'],
    ['2400', 'range'],
  ],
);

describeReader(
  'time of an unpadded hour',
  timeType,
  { format: 'H' },
  [
    ['7', '07:00:00'],
    ['23', '23:00:00'],
  ],
  [
    ['24', 'range'],
    ['', 'type'],
  ],
);

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
