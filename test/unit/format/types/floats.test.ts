// real and double: syntax, NaN and Infinity, the exact edges of the range.

import { doubleType, realType } from '../../../../src/format/types/floats.ts';
import { words } from '../../../helpers/words.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

// 2^128 - 2^103, from which a real rounds to infinity, and 2^-150, up to which it rounds to zero.
const realOverflow = (2n ** 128n - 2n ** 103n).toString();
const realOverflowLess = (2n ** 128n - 2n ** 103n - 1n).toString();
const realUnderflow = `${5n ** 150n}e-150`;
const realUnderflowMore = `${5n ** 150n}00000000001e-161`;

const syntaxRefused = ['', ' 1', ...words('. +. e5 1e 1e+ 1e5.0 1.2.3 --1 1f 0x1p3 1_000 1,5 infin +NaN')];

describeReader(
  'real',
  realType,
  {},
  [
    realOverflowLess,
    `${realOverflowLess}.99999`,
    realUnderflowMore,
    ...words(`
    0 -0.0 0e999999999999 +1.5 1. .5 1.e3 1E-10 NaN nan Infinity -inf +INFINITY 3.4028235e38
    -3.4028235e38 1e-45 -1.4e-45`),
  ],
  {
    type: [...syntaxRefused, ['12a', '"12a" is not a real']],
    range: [
      ['1e39', '"1e39" is out of range for real'],
      realOverflow,
      `-${realOverflow}.000`,
      `${realOverflow}e0`,
      realUnderflow,
      '7e-46',
      '-1e-400',
    ],
  },
);

describeReader(
  'double',
  doubleType,
  {},
  words(`
    1e39 1.7976931348623157e308 1.7976931348623158e308 5e-324 2.4703282292062328e-324 -0e-999
    Infinity`),
  {
    type: syntaxRefused,
    range: words('1.7976931348623159e308 1e309 2.4703282292062327e-324 1e-99999999999999999999'),
  },
);

describeReader(
  'double with a decimal comma and points between groups',
  doubleType,
  { decimal: ',', thousands: '.' },
  words('1.234,5→1234.5 -1.234.567→-1234567 0,5→0.5 1234,5e3→1234.5e3 NaN'),
  { type: words('1,234.5 0.5 1,5,5 1,234.567 1e5,0') },
);

describeReader('real with a decimal comma', realType, { decimal: ',' }, ['1,5→1.5', '15'], {
  type: ['1.5'],
  range: ['1e39'],
});

describeReader(
  'real with blanks between groups',
  realType,
  { thousands: ' ' },
  ['1 234.5→1234.5', '12 345→12345'],
  { type: ['1 23', '1.5 123', '- 123', ' 123'] },
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

describeReader('double in per cent', doubleType, { percent: 'share' }, ['12.5%→0.125', '7 %→0.07'], {
  type: [['12.5', '"12.5" is not a double with %']],
  range: ['1e400%'],
});

describeReader('real as the server spells it', realType, { spelling: 'server' }, [' -1.5 →-1.5', 'inf'], {
  type: ['0x1F', '1_000', ' '],
});
