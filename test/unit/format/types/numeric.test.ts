// numeric: precision and scale, rounding only on request, and PostgreSQL's limits.

import { numericType } from '../../../../src/format/types/numeric.ts';
import { words } from '../../../helpers/words.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

describeReader(
  'numeric(8,5)',
  numericType,
  { precision: 8, scale: 5 },
  words('43.07250 43.0725000000 -999.99999 000999.1 0 -.5 1. 99999e-2 1.5e2 0e-99999 NaN nan'),
  {
    type: [['', '"" is not a numeric'], ...words('1,5 1e abc 0x1F 1_000')],
    range: [
      ['43.072504', '43.072504 has 6 decimals, numeric(8,5) keeps 5; widen the scale or set round: true'],
      ['1234', '1234 has 4 digits before the point, numeric(8,5) keeps 3'],
      ['Infinity', 'Infinity does not fit into numeric(8,5)'],
      ...words('1e-6 1e3 1e999999999999 0e2000000000 -inf'),
    ],
  },
);

describeReader(
  'numeric(5,2) with round',
  numericType,
  { precision: 5, scale: 2, round: true },
  words('999.994 99.996 998.999 0.001 1e-30 999.9949999 -12.345'),
  {
    range: [
      ['999.996', '999.996 rounds to 4 digits before the point, numeric(5,2) keeps 3'],
      ...words('-999.995 999995e-3 1000'),
    ],
  },
);

describeReader(
  'numeric(2,2) with round',
  numericType,
  { precision: 2, scale: 2, round: true },
  words('0.994 .05 0.0999'),
  { range: ['0.995', '1'] },
);

describeReader('numeric(3)', numericType, { precision: 3 }, ['999', '1.0'], { range: ['1.5', '1000'] });

describeReader(
  'numeric',
  numericType,
  {},
  [
    `1.${'0'.repeat(16383)}`,
    `${'0'.repeat(200_000)}1`,
    ...words('1e131071 1e-16383 0e1000000000 Infinity -inf NaN'),
  ],
  { range: [`1.${'0'.repeat(16384)}`, ...words('1e131072 1e-16384 0e-16384 0e1073741824')] },
);

describeReader(
  'numeric(6,2) with a decimal comma',
  numericType,
  { precision: 6, scale: 2, decimal: ',', thousands: ' ' },
  ['1 234,50→1234.50', '-0,05→-0.05'],
  { type: ['1234.50', '12 34'], range: ['1,234'] },
);

describeProblems(numericType, [
  [{ scale: 2 }, 'needs a precision'],
  [{ round: true }, 'give precision and scale'],
  [{ precision: 0 }, 'from 1 to 1000'],
  [{ precision: 1001 }, 'from 1 to 1000'],
  [{ precision: 5, scale: 6 }, 'from 0 to its precision'],
  [{ precision: 5, scale: -1 }, 'from 0 to its precision'],
  [{ precision: 5, thousands: '.' }, 'a character of its own'],
]);

describeValues(
  numericType,
  [['1.50', '1.50']],
  [
    ['1.50', '1.50'],
    [1.5, '1.5'],
    [12n, '12'],
    [true, undefined],
  ],
);

describeReader(
  'numeric in per cent, as a share',
  numericType,
  { percent: 'share' },
  [
    '12.5 %→0.125',
    '-3\u00a0%→-0.03',
    ...words('12.5%→0.125 100%→1.00 +1234.5%→+12.345 .5%→0.005 5.%→0.05 1.5e1%→0.015e1'),
  ],
  { type: [['12.5', '"12.5" is not a numeric with %'], '5  %', ...words('% .% 5%% NaN% inf%')] },
);

describeReader(
  'numeric in per cent, with decimal comma',
  numericType,
  { percent: 'number', decimal: ',', thousands: '.', precision: 6, scale: 2 },
  ['1.234,5 %→1234.5'],
  { range: ['1.234,567%'], type: ['12.34%'] },
);

describeReader(
  'numeric in Indian groups',
  numericType,
  { thousands: ',', grouping: 'indian' },
  words('12,34,567.89→1234567.89 -1,00,00,000→-10000000 1,000→1000 12,345→12345 123456→123456'),
  { type: words('123,456 1,234,567 12,34 12,34,56 0,123 12,345,67') },
);

describeReader(
  'numeric as the server spells it',
  numericType,
  { spelling: 'server', precision: 6, scale: 1 },
  [' 5.5\t→5.5', ...words('1_000.5→1000.5 -0x1F→-31 0o17→15 0b_11→3')],
  { type: ['\u00a05', `1${' '.repeat(100_000)}1`, ...words('1__0 _1 1_ 0x 0x1F.5')], range: ['0xFFFFFF'] },
);

describeProblems(numericType, [
  [{ grouping: 'indian' }, 'needs thousands'],
  [{ spelling: 'server', decimal: ',' }, 'decimal contradicts that'],
  [{ spelling: 'server', percent: 'share' }, 'percent contradicts that'],
]);
