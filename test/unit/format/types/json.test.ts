// json and jsonb: valid JSON, and for jsonb what it can store.

import { jsonbType, jsonType } from '../../../../src/format/types/json.ts';
import { words } from '../../../helpers/words.ts';
import { describeReader, describeValues } from './reader-cases.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

const valid = [
  '{}',
  ' [1, 2.5e3, "a", null, true] ',
  '"\\ud83d\\ude00"',
  '"\\\\u0000"',
  '"\\\\\\\\ud800"',
  nested(1000),
  `"${'['.repeat(2000)}\\"${'['.repeat(2000)}"`,
  '1e131071',
];

const invalid = {
  type: [['', '"" is not valid JSON'], '{a: 1}', "{'a': 1}", '[1,]', '01', 'NaN', '"\n"', '\ufeff{}', '1 2'],
  range: [nested(1001), '{"a":'.repeat(1001) + '1' + '}'.repeat(1001)],
} as const;

describeReader('json', jsonType, {}, [...valid, ...words('"\\u0000" "\\ud800" 1e131072')], invalid);

describeReader('jsonb', jsonbType, {}, valid, {
  type: [
    ...invalid.type,
    ['"\\u0000"', '"\\"\\\\u0000\\"" holds \\u0000, which jsonb cannot store'],
    '{"\\u0000": 1}',
    '"\\ud800" ,'.slice(0, 8),
    ...words('"\\\\\\u0000" "\\ud800" "\\udc00\\ud800" "\\ud800\\ud800" "\\ud800x\\udc00"'),
  ],
  range: [...invalid.range, '[1, -1e131072]', '1e-16384', `{"a": ${'1'.repeat(131_073)}}`],
});

describeValues(
  jsonType,
  [['{"a": [1, null]}', { a: [1, null] }]],
  [
    [{ a: 1 }, '{"a":1}'],
    ['a', '"a"'],
    [undefined, undefined],
    [1n, undefined],
  ],
);
