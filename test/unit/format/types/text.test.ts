// text and varchar(n).

import { textType, varcharType } from '../../../../src/format/types/text.ts';
import { words } from '../../../helpers/words.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

describeReader('text', textType, {}, ['', ' a ', 'naïve 😀', '\t\n\\N'], {});

describeReader('varchar(3)', varcharType, { length: 3 }, ['', ...words('abc 😀😀😀 é😀a')], {
  too_long: [
    ['abcd', '"abcd" has 4 characters, varchar(3) keeps 3'],
    'abc ',
    '😀😀😀😀',
    ['x'.repeat(100), `"${'x'.repeat(60)}…" has 100 characters, varchar(3) keeps 3`],
    ['😀'.repeat(61), `"${'😀'.repeat(60)}…" has 61 characters, varchar(3) keeps 3`],
    ['a\nb\u0085', '"a\\nb\\u0085" has 4 characters, varchar(3) keeps 3'],
  ],
});

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
