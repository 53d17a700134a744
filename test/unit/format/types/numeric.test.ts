// numeric: precision and scale, rounding only on request, and PostgreSQL's limits.

import { numericType } from '../../../../src/format/types/numeric.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

describeReader(
  'numeric(8,5)',
  numericType,
  { precision: 8, scale: 5 },
  [
    ['43.07250'],
    ['43.0725000000'],
    ['-999.99999'],
    ['000999.1'],
    ['0'],
    ['-.5'],
    ['1.'],
    ['99999e-2'],
    ['1.5e2'],
    ['0e-99999'],
    ['NaN'],
    ['nan'],
  ],
  [
    ['', 'type', '"" is not a numeric'],
    ['1,5', 'type'],
    ['1e', 'type'],
    ['abc', 'type'],
    ['0x1F', 'type'],
    ['1_000', 'type'],
    [
      '43.072504',
      'range',
      '43.072504 has 6 decimals, numeric(8,5) keeps 5; widen the scale or set round: true',
    ],
    ['1e-6', 'range'],
    ['1234', 'range', '1234 has 4 digits before the point, numeric(8,5) keeps 3'],
    ['1e3', 'range'],
    ['1e999999999999', 'range'],
    ['0e2000000000', 'range'],
    ['Infinity', 'range', 'Infinity does not fit into numeric(8,5)'],
    ['-inf', 'range'],
  ],
);

describeReader(
  'numeric(5,2) with round',
  numericType,
  { precision: 5, scale: 2, round: true },
  [['999.994'], ['99.996'], ['998.999'], ['0.001'], ['1e-30'], ['999.9949999'], ['-12.345']],
  [
    ['999.996', 'range', '999.996 rounds to 4 digits before the point, numeric(5,2) keeps 3'],
    ['-999.995', 'range'],
    ['999995e-3', 'range'],
    ['1000', 'range'],
  ],
);

describeReader(
  'numeric(2,2) with round',
  numericType,
  { precision: 2, scale: 2, round: true },
  [['0.994'], ['.05'], ['0.0999']],
  [
    ['0.995', 'range'],
    ['1', 'range'],
  ],
);

describeReader(
  'numeric(3)',
  numericType,
  { precision: 3 },
  [['999'], ['1.0']],
  [
    ['1.5', 'range'],
    ['1000', 'range'],
  ],
);

describeReader(
  'numeric',
  numericType,
  {},
  [
    ['1e131071'],
    [`1.${'0'.repeat(16383)}`],
    ['1e-16383'],
    ['0e1000000000'],
    ['Infinity'],
    ['-inf'],
    ['NaN'],
    [`${'0'.repeat(200_000)}1`],
  ],
  [
    ['1e131072', 'range'],
    ['1e-16384', 'range'],
    ['0e-16384', 'range'],
    [`1.${'0'.repeat(16384)}`, 'range'],
    ['0e1073741824', 'range'],
  ],
);

describeReader(
  'numeric(6,2) with a decimal comma',
  numericType,
  { precision: 6, scale: 2, decimal: ',', thousands: ' ' },
  [
    ['1 234,50', '1234.50'],
    ['-0,05', '-0.05'],
  ],
  [
    ['1234.50', 'type'],
    ['1,234', 'range'],
    ['12 34', 'type'],
  ],
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
    ['12.5%', '0.125'],
    ['12.5 %', '0.125'],
    ['-3\u00a0%', '-0.03'],
    ['100%', '1.00'],
    ['+1234.5%', '+12.345'],
    ['.5%', '0.005'],
    ['5.%', '0.05'],
    ['1.5e1%', '0.015e1'],
  ],
  [
    ['12.5', 'type', '"12.5" is not a numeric with %'],
    ['%', 'type'],
    ['.%', 'type'],
    ['5%%', 'type'],
    ['5  %', 'type'],
    ['NaN%', 'type'],
    ['inf%', 'type'],
  ],
);

describeReader(
  'numeric in per cent, with decimal comma',
  numericType,
  { percent: 'number', decimal: ',', thousands: '.', precision: 6, scale: 2 },
  [['1.234,5 %', '1234.5']],
  [
    ['1.234,567%', 'range'],
    ['12.34%', 'type'],
  ],
);

describeReader(
  'numeric in Indian groups',
  numericType,
  { thousands: ',', grouping: 'indian' },
  [
    ['12,34,567.89', '1234567.89'],
    ['-1,00,00,000', '-10000000'],
    ['1,000', '1000'],
    ['12,345', '12345'],
    ['123456', '123456'],
  ],
  [
    ['123,456', 'type'],
    ['1,234,567', 'type'],
    ['12,34', 'type'],
    ['12,34,56', 'type'],
    ['0,123', 'type'],
    ['12,345,67', 'type'],
  ],
);

describeReader(
  'numeric as the server spells it',
  numericType,
  { spelling: 'server', precision: 6, scale: 1 },
  [
    [' 5.5\t', '5.5'],
    ['1_000.5', '1000.5'],
    ['-0x1F', '-31'],
    ['0o17', '15'],
    ['0b_11', '3'],
  ],
  [
    ['1__0', 'type'],
    ['_1', 'type'],
    ['1_', 'type'],
    ['0x', 'type'],
    ['0x1F.5', 'type'],
    ['\u00a05', 'type'],
    ['0xFFFFFF', 'range'],
    [`1${' '.repeat(100_000)}1`, 'type'],
  ],
);

describeProblems(numericType, [
  [{ grouping: 'indian' }, 'needs thousands'],
  [{ spelling: 'server', decimal: ',' }, 'decimal contradicts that'],
  [{ spelling: 'server', percent: 'share' }, 'percent contradicts that'],
]);
