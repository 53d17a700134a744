// boolean: the server's words, or only the column's own texts.

import { booleanType } from '../../../../src/format/types/boolean.ts';
import { describeProblems, describeReader, describeValues } from './reader-cases.ts';

describeReader(
  'boolean',
  booleanType,
  {},
  [
    ['t', 't'],
    ['TRUE', 't'],
    ['y', 't'],
    ['Yes', 't'],
    ['on', 't'],
    ['1', 't'],
    ['f', 'f'],
    ['False', 'f'],
    ['N', 'f'],
    ['no', 'f'],
    ['OFF', 'f'],
    ['0', 'f'],
  ],
  [
    ['', 'type', '"" is not a boolean'],
    ['2', 'type'],
    ['tru', 'type'],
    [' t', 'type'],
    ['ja', 'type'],
  ],
);

describeReader(
  'boolean with texts for both',
  booleanType,
  { true: ['Ja', 'J'], false: ['Nein'] },
  [
    ['Ja', 't'],
    ['J', 't'],
    ['Nein', 'f'],
  ],
  [
    ['ja', 'type'],
    ['true', 'type'],
    ['0', 'type'],
  ],
);

describeReader(
  'boolean with texts for true only',
  booleanType,
  { true: ['X'] },
  [['X', 't']],
  [
    ['', 'type'],
    ['f', 'type'],
  ],
);

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
  [
    ['tru', 't'],
    [' YE\n', 't'],
    ['on', 't'],
    ['of', 'f'],
    ['fals', 'f'],
    ['0', 'f'],
  ],
  [
    ['o', 'type'],
    ['', 'type'],
    ['truer', 'type'],
    ['t rue', 'type'],
    ['10', 'type'],
  ],
);

describeProblems(booleanType, [[{ spelling: 'server', true: ['ja'] }, 'true contradicts that']]);
