// uuid: accepted spellings, and the spelling that checks get.

import { uuidType } from '../../../../src/format/types/uuid.ts';
import { words } from '../../../helpers/words.ts';
import { describeReader, describeValues } from './reader-cases.ts';

const canonical = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
const upper = canonical.toUpperCase();
const hex = canonical.replaceAll('-', '');

describeReader(
  'uuid',
  uuidType,
  {},
  [canonical, upper, `{${canonical}}`, hex, '00000000-0000-0000-0000-000000000000'],
  {
    type: [
      ['', '"" is not a uuid'],
      canonical.slice(1),
      `${canonical}0`,
      `{${canonical}`,
      `{${canonical})`,
      canonical.replace('a', 'g'),
      canonical.replace('-', '0'),
      hex.replace('a', '@'),
      `${hex}0000`,
    ],
  },
);

describeValues(
  uuidType,
  [
    [`{${upper}}`, canonical],
    [hex, canonical],
  ],
  [
    [canonical, canonical],
    [1, undefined],
  ],
);

describeReader(
  'uuid as the server spells it',
  uuidType,
  { spelling: 'server' },
  [
    '{0123456789abcdef0123456789ABCDEF}→0123456789abcdef0123456789ABCDEF',
    '0123-4567-89ab-cdef-0123-4567-89ab-cdef→0123456789abcdef0123456789abcdef',
  ],
  {
    type: words(`
    01-23456789abcdef0123456789abcdef 0123456789abcdef0123456789abcdef-
    {0123456789abcdef0123456789abcdef`),
  },
);
