// text and varchar(n).

import { textType, varcharType } from '../../../../src/format/types/text.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

describeReader('text', textType, {}, [[''], [' a '], ['naïve 😀'], ['\t\n\\N']], []);

describeReader(
  'varchar(3)',
  varcharType,
  { length: 3 },
  [[''], ['abc'], ['😀😀😀'], ['é😀a']],
  [
    ['abcd', 'too_long', '"abcd" has 4 characters, varchar(3) keeps 3'],
    ['abc ', 'too_long'],
    ['😀😀😀😀', 'too_long'],
    ['x'.repeat(100), 'too_long', `"${'x'.repeat(60)}…" has 100 characters, varchar(3) keeps 3`],
    ['😀'.repeat(61), 'too_long', `"${'😀'.repeat(60)}…" has 61 characters, varchar(3) keeps 3`],
    ['a\nb\u0085', 'too_long', '"a\\nb\\u0085" has 4 characters, varchar(3) keeps 3'],
  ],
);

describeProblems(varcharType, [
  [{}, 'needs a length'],
  [{ length: 0 }, 'from 1 to'],
  [{ length: 1.5 }, 'from 1 to'],
  [{ length: 10_485_761 }, 'use text'],
]);

describeValues(
  textType,
  [['a', 'a']],
  [
    ['a', 'a'],
    [1, undefined],
    [null, undefined],
  ],
);
describeValues(
  varcharType,
  [['a', 'a']],
  [
    ['a', 'a'],
    [{}, undefined],
  ],
);
