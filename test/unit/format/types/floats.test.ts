// real and double: syntax, NaN and Infinity, the exact edges of the range.

import { doubleType, realType } from '../../../../src/format/types/floats.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

// 2^128 - 2^103, from which a real rounds to infinity, and 2^-150, up to which it rounds to zero.
const realOverflow = (2n ** 128n - 2n ** 103n).toString();
const realOverflowLess = (2n ** 128n - 2n ** 103n - 1n).toString();
const realUnderflow = `${5n ** 150n}e-150`;
const realUnderflowMore = `${5n ** 150n}00000000001e-161`;

const syntaxRefused = [
  ['', 'type'],
  ['.', 'type'],
  ['+.', 'type'],
  ['e5', 'type'],
  ['1e', 'type'],
  ['1e+', 'type'],
  ['1e5.0', 'type'],
  ['1.2.3', 'type'],
  ['--1', 'type'],
  [' 1', 'type'],
  ['1f', 'type'],
  ['0x1p3', 'type'],
  ['1_000', 'type'],
  ['1,5', 'type'],
  ['infin', 'type'],
  ['+NaN', 'type'],
] as const;

describeReader(
  'real',
  realType,
  {},
  [
    ['0'],
    ['-0.0'],
    ['0e999999999999'],
    ['+1.5'],
    ['1.'],
    ['.5'],
    ['1.e3'],
    ['1E-10'],
    ['NaN'],
    ['nan'],
    ['Infinity'],
    ['-inf'],
    ['+INFINITY'],
    ['3.4028235e38'],
    ['-3.4028235e38'],
    [realOverflowLess],
    [`${realOverflowLess}.99999`],
    ['1e-45'],
    ['-1.4e-45'],
    [realUnderflowMore],
  ],
  [
    ...syntaxRefused,
    ['12a', 'type', '"12a" is not a real'],
    ['1e39', 'range', '"1e39" is out of range for real'],
    [realOverflow, 'range'],
    [`-${realOverflow}.000`, 'range'],
    [`${realOverflow}e0`, 'range'],
    [realUnderflow, 'range'],
    ['7e-46', 'range'],
    ['-1e-400', 'range'],
  ],
);

describeReader(
  'double',
  doubleType,
  {},
  [
    ['1e39'],
    ['1.7976931348623157e308'],
    ['1.7976931348623158e308'],
    ['5e-324'],
    ['2.4703282292062328e-324'],
    ['-0e-999'],
    ['Infinity'],
  ],
  [
    ...syntaxRefused,
    ['1.7976931348623159e308', 'range'],
    ['1e309', 'range'],
    ['2.4703282292062327e-324', 'range'],
    ['1e-99999999999999999999', 'range'],
  ],
);

describeReader(
  'double with a decimal comma and points between groups',
  doubleType,
  { decimal: ',', thousands: '.' },
  [['1.234,5', '1234.5'], ['-1.234.567', '-1234567'], ['0,5', '0.5'], ['1234,5e3', '1234.5e3'], ['NaN']],
  [
    ['1,234.5', 'type'],
    ['0.5', 'type'],
    ['1,5,5', 'type'],
    ['1,234.567', 'type'],
    ['1e5,0', 'type'],
  ],
);

describeReader(
  'real with a decimal comma',
  realType,
  { decimal: ',' },
  [['1,5', '1.5'], ['15']],
  [
    ['1.5', 'type'],
    ['1e39', 'range'],
  ],
);

describeReader(
  'real with blanks between groups',
  realType,
  { thousands: ' ' },
  [
    ['1 234.5', '1234.5'],
    ['12 345', '12345'],
  ],
  [
    ['1 23', 'type'],
    ['1.5 123', 'type'],
    ['- 123', 'type'],
    [' 123', 'type'],
  ],
);

describeProblems(realType, [
  [{ decimal: ',', thousands: ',' }, 'a character of its own'],
  [{ thousands: '.' }, 'a character of its own'],
]);

describeValues(
  doubleType,
  [
    ['1.', 1],
    ['+.5', 0.5],
    ['inf', Infinity],
    ['-Infinity', -Infinity],
    ['nan', NaN],
  ],
  [
    [0.1, '0.1'],
    [-0, '-0'],
    [Infinity, 'Infinity'],
    [NaN, 'NaN'],
    [1e-7, '1e-7'],
    [5n, '5'],
    ['5', undefined],
  ],
);

describeReader(
  'double in per cent',
  doubleType,
  { percent: 'share' },
  [
    ['12.5%', '0.125'],
    ['7 %', '0.07'],
  ],
  [
    ['12.5', 'type', '"12.5" is not a double with %'],
    ['1e400%', 'range'],
  ],
);

describeReader(
  'real as the server spells it',
  realType,
  { spelling: 'server' },
  [[' -1.5 ', '-1.5'], ['inf']],
  [
    ['0x1F', 'type'],
    ['1_000', 'type'],
    [' ', 'type'],
  ],
);
