// smallint, integer and bigint: syntax, exact range, groups of digits.

import { bigintType, integerColumnType, smallintType } from '../../../../src/format/types/integers.ts';
import { words } from '../../../helpers/words.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

const zeros = '0'.repeat(50);

describeReader(
  'smallint',
  smallintType,
  {},
  [zeros, `${zeros}1`, ...words('0 -0 +12 32767 -32768 0032767 -00032768')],
  {
    type: [
      ['', '"" is not a smallint'],
      ['12a', '"12a" is not a smallint'],
      ' 1',
      '1 ',
      ...words('+ - +-1 1.0 1e2 0x10 1_000 1,000 ٣'),
    ],
    range: [
      ['32768', '"32768" is outside smallint (-32768 to 32767)'],
      '9'.repeat(400),
      ...words('-32769 70000 99999'),
    ],
  },
);

describeReader('integer', integerColumnType, {}, words('2147483647 -2147483648 +0002147483647'), {
  type: [['x', '"x" is not an integer']],
  range: [['2147483648', '"2147483648" is outside integer (-2147483648 to 2147483647)'], '-2147483649'],
});

describeReader('bigint', bigintType, {}, words('9223372036854775807 -9223372036854775808 9007199254740993'), {
  range: words('9223372036854775808 -9223372036854775809 10000000000000000000'),
});

describeReader(
  'integer with a comma between groups',
  integerColumnType,
  { thousands: ',' },
  words('1,234,567→1234567 -1,234→-1234 +12,345→+12345 1234567 999 2,147,483,647→2147483647'),
  {
    type: [
      ['12,34', '"12,34" is not an integer'],
      ...words('1,2345 1,234567 1234,567 ,123 -,123 1,,234 1,234, 0,123 1e2,345 1,234.0'),
    ],
    range: [['2,147,483,648', '"2,147,483,648" is outside integer (-2147483648 to 2147483647)']],
  },
);

describeReader(
  'bigint with a point between groups',
  bigintType,
  { thousands: '.' },
  ['9.223.372.036.854.775.807→9223372036854775807'],
  { type: words('1.5 0.123 1,234') },
);

describeProblems(smallintType, [
  [{ thousands: '' }, 'one character'],
  [{ thousands: ', ' }, 'one character'],
  [{ thousands: '0' }, 'part of a number'],
  [{ thousands: '-' }, 'part of a number'],
  [{ thousands: 'e' }, 'part of a number'],
]);

describeValues(
  smallintType,
  [
    ['+7', 7],
    ['-012', -12],
  ],
  [
    [7, '7'],
    [1.5, '1.5'],
    [1e21, '1000000000000000000000'],
    ['7', undefined],
  ],
);
describeValues(
  bigintType,
  [
    ['+5', 5n],
    ['9223372036854775807', 9223372036854775807n],
    ['-007', -7n],
  ],
  [
    [5n, '5'],
    [5, '5'],
    [null, undefined],
  ],
);

describeReader(
  'integer in Indian groups',
  integerColumnType,
  { thousands: ',', grouping: 'indian' },
  ['12,34,567→1234567'],
  { type: ['1,234,567'] },
);

describeReader(
  'smallint as the server spells it',
  smallintType,
  { spelling: 'server' },
  [' 7 →7', ...words('0x7FFF→32767 -0x8000→-32768 1_0→10')],
  { range: ['0x8000'], type: ['1 0', `0x${'0'.repeat(200)}1`] },
);

describeProblems(smallintType, [
  [{ grouping: 'indian' }, 'needs thousands'],
  [{ spelling: 'server', thousands: ',' }, 'thousands contradicts that'],
]);
