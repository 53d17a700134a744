// boolean: the server's words, or only the column's own texts.

import { booleanType } from '../../../../src/format/types/boolean.ts';
import { words } from '../../../helpers/words.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

describeReader(
  'boolean',
  booleanType,
  {},
  words('t→t TRUE→t y→t Yes→t on→t 1→t f→f False→f N→f no→f OFF→f 0→f'),
  { type: [['', '"" is not a boolean'], ' t', ...words('2 tru ja')] },
);

describeReader(
  'boolean with texts for both',
  booleanType,
  { true: ['Ja', 'J'], false: ['Nein'] },
  words('Ja→t J→t Nein→f'),
  { type: words('ja true 0') },
);

describeReader('boolean with texts for true only', booleanType, { true: ['X'] }, ['X→t'], {
  type: ['', 'f'],
});

describeProblems(booleanType, [
  [{ true: [] }, 'at least one'],
  [{ true: ['1'], false: ['0', '1'] }, 'cannot mean both'],
]);

describeValues(
  booleanType,
  [
    ['t', true],
    ['f', false],
  ],
  [
    [true, 't'],
    [false, 'f'],
    ['t', undefined],
    [1, undefined],
  ],
);

describeReader(
  'boolean as the server spells it',
  booleanType,
  { spelling: 'server' },
  [' YE\n→t', ...words('tru→t on→t of→f fals→f 0→f')],
  { type: ['', 't rue', ...words('o truer 10')] },
);

describeProblems(booleanType, [[{ spelling: 'server', true: ['ja'] }, 'true contradicts that']]);
