// smallint, integer and bigint: syntax, exact range, groups of digits.

import { bigintType, integerColumnType, smallintType } from '../../../../src/format/types/integers.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

const zeros = '0'.repeat(50);

describeReader(
  'smallint',
  smallintType,
  {},
  [['0'], ['-0'], ['+12'], ['32767'], ['-32768'], ['0032767'], ['-00032768'], [zeros], [`${zeros}1`]],
  [
    ['', 'type', '"" is not a smallint'],
    ['12a', 'type', '"12a" is not a smallint'],
    ['+', 'type'],
    ['-', 'type'],
    ['+-1', 'type'],
    ['1.0', 'type'],
    ['1e2', 'type'],
    [' 1', 'type'],
    ['1 ', 'type'],
    ['0x10', 'type'],
    ['1_000', 'type'],
    ['1,000', 'type'],
    ['٣', 'type'],
    ['32768', 'range', '"32768" is outside smallint (-32768 to 32767)'],
    ['-32769', 'range'],
    ['70000', 'range'],
    ['99999', 'range'],
    ['9'.repeat(400), 'range'],
  ],
);

describeReader(
  'integer',
  integerColumnType,
  {},
  [['2147483647'], ['-2147483648'], ['+0002147483647']],
  [
    ['x', 'type', '"x" is not an integer'],
    ['2147483648', 'range', '"2147483648" is outside integer (-2147483648 to 2147483647)'],
    ['-2147483649', 'range'],
  ],
);

describeReader(
  'bigint',
  bigintType,
  {},
  [['9223372036854775807'], ['-9223372036854775808'], ['9007199254740993']],
  [
    ['9223372036854775808', 'range'],
    ['-9223372036854775809', 'range'],
    ['10000000000000000000', 'range'],
  ],
);

describeReader(
  'integer with a comma between groups',
  integerColumnType,
  { thousands: ',' },
  [
    ['1,234,567', '1234567'],
    ['-1,234', '-1234'],
    ['+12,345', '+12345'],
    ['1234567'],
    ['999'],
    ['2,147,483,647', '2147483647'],
  ],
  [
    ['12,34', 'type', '"12,34" is not an integer'],
    ['1,2345', 'type'],
    ['1,234567', 'type'],
    ['1234,567', 'type'],
    [',123', 'type'],
    ['-,123', 'type'],
    ['1,,234', 'type'],
    ['1,234,', 'type'],
    ['0,123', 'type'],
    ['1e2,345', 'type'],
    ['1,234.0', 'type'],
    ['2,147,483,648', 'range', '"2,147,483,648" is outside integer (-2147483648 to 2147483647)'],
  ],
);

describeReader(
  'bigint with a point between groups',
  bigintType,
  { thousands: '.' },
  [['9.223.372.036.854.775.807', '9223372036854775807']],
  [
    ['1.5', 'type'],
    ['0.123', 'type'],
    ['1,234', 'type'],
  ],
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
  [['12,34,567', '1234567']],
  [['1,234,567', 'type']],
);

describeReader(
  'smallint as the server spells it',
  smallintType,
  { spelling: 'server' },
  [
    [' 7 ', '7'],
    ['0x7FFF', '32767'],
    ['-0x8000', '-32768'],
    ['1_0', '10'],
  ],
  [
    ['0x8000', 'range'],
    ['1 0', 'type'],
    [`0x${'0'.repeat(200)}1`, 'type'],
  ],
);

describeProblems(smallintType, [
  [{ grouping: 'indian' }, 'needs thousands'],
  [{ spelling: 'server', thousands: ',' }, 'thousands contradicts that'],
]);
