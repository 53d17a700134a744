// json and jsonb: valid JSON, and for jsonb what it can store.

import { jsonbType, jsonType } from '../../../../src/format/types/json.ts';
import { describeReader, describeValues } from './reader-cases.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

const valid = [
  ['{}'],
  [' [1, 2.5e3, "a", null, true] '],
  ['"\\ud83d\\ude00"'],
  ['"\\\\u0000"'],
  ['"\\\\\\\\ud800"'],
  [nested(1000)],
  [`"${'['.repeat(2000)}\\"${'['.repeat(2000)}"`],
  ['1e131071'],
] as const;

const invalid = [
  ['', 'type', '"" is not valid JSON'],
  ['{a: 1}', 'type'],
  ["{'a': 1}", 'type'],
  ['[1,]', 'type'],
  ['01', 'type'],
  ['NaN', 'type'],
  ['"\n"', 'type'],
  ['\ufeff{}', 'type'],
  ['1 2', 'type'],
  [nested(1001), 'range'],
  ['{"a":'.repeat(1001) + '1' + '}'.repeat(1001), 'range'],
] as const;

describeReader('json', jsonType, {}, [...valid, ['"\\u0000"'], ['"\\ud800"'], ['1e131072']], invalid);

describeReader('jsonb', jsonbType, {}, valid, [
  ...invalid,
  ['"\\u0000"', 'type', '"\\"\\\\u0000\\"" holds \\u0000, which jsonb cannot store'],
  ['{"\\u0000": 1}', 'type'],
  ['"\\\\\\u0000"', 'type'],
  ['"\\ud800"', 'type'],
  ['"\\udc00\\ud800"', 'type'],
  ['"\\ud800\\ud800"', 'type'],
  ['"\\ud800" ,'.slice(0, 8), 'type'],
  ['"\\ud800x\\udc00"', 'type'],
  ['[1, -1e131072]', 'range'],
  ['1e-16384', 'range'],
  [`{"a": ${'1'.repeat(131_073)}}`, 'range'],
]);

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
