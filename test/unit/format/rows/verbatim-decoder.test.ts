// The verbatim decoder: which bytes COPY gets, and records that COPY would misread.

import { expect, it } from 'vitest';
import { noQuote } from '../../../../src/db/staging.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { createVerbatimDecoder } from '../../../../src/format/rows/verbatim-decoder.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { blocksOf, tableOf } from '../records/reading.ts';

const latin1 = Buffer.from('é,x\n', 'latin1');
const cases: [
  name: string,
  input: string | Buffer,
  sent?: string,
  fields?: number,
  rejects?: readonly string[],
  options?: CsvOptions,
][] = [
  ['plain records go untouched', 'a,b\n c ,\n'],
  ['bytes that are not UTF-8 are the server’s to judge', latin1],
  ['another number of fields is the server’s to judge', 'a\na,b,c\n'],
  ['a missing last newline is written', 'a,b', 'a,b\n'],
  ['blank lines are left out', '\na,b\n\r\n\nc,d\n', 'a,b\nc,d\n'],
  ['blank lines of one field are kept', '\na\n\n', undefined, 1],
  ['newlines become LF', 'a,b\r\nc,d\r\r\ne,f\n', 'a,b\nc,d\ne,f\n'],
  [
    'a CR, which COPY would take for the end of every line, is rejected',
    'a\r,b\nc,d\n',
    'c,d\n',
    undefined,
    ['line_end@0:1'],
  ],
  ['quoted newlines stay', '"a\r\nb\r",c\r\n', '"a\r\nb\r",c\n'],
  ['comments are left out', '#x\na,b\n', 'a,b\n', undefined, undefined, { comment: '#' }],
  ['a lone \\. of one field is quoted', 'a\n\\.\nb\n', 'a\n"\\."\nb\n', 1],
  [
    'and in the stand-in quote when there is none',
    '\\.\n',
    '\u0001\\.\u0001\n',
    1,
    undefined,
    { quote: null },
  ],
  ['a lone \\. of several fields is rejected', 'a,b\n\\.\n', 'a,b\n', undefined, ['field_count@4:2']],
  ['\\. within a record is data', 'a,\\.\n\\.b,c\n'],
  [
    'the stand-in quote is rejected when there is no quote',
    'a,"\nb,\u0001\n',
    'a,"\n',
    undefined,
    ['quote@4:2'],
    { quote: null },
  ],
  ['and is data when there is', 'a,\u0001\n'],
  ['an unclosed quote is rejected', 'a,b\n"c,d\ne,f\n', 'a,b\ne,f\n', undefined, ['quote@4:2']],
  [
    'stray quotes, which COPY would read over the record’s end, are rejected',
    'a"b,c\nd"e,f\ng,h\n',
    'g,h\n',
    undefined,
    ['quote@0:1', 'quote@6:2'],
  ],
  [
    'stray quotes, which COPY would drop, are rejected',
    '5" pipe",x\n"a"b,c\n',
    '',
    undefined,
    ['quote@0:1', 'quote@11:2'],
  ],
];

it.each(cases)('verbatim decoder %s', async (_, input, sent, fields = 2, rejects = [], options = {}) => {
  const table = tableOf(options);
  const decode = createVerbatimDecoder(table, fields, noQuote);
  const bytes = Buffer.from(input as string);
  const decoded = (await blocksOf([bytes], createSplitter(table.format.dialect, fields, 'lf'))).map(decode);
  const copied = Buffer.concat(decoded.map(({ copyBytes }) => copyBytes));
  expect(copied.toString('latin1')).toBe((sent === undefined ? bytes : Buffer.from(sent)).toString('latin1'));
  const found = decoded.flatMap((block) => block.rejects);
  expect(found.map(({ code, position }) => `${code}@${position.byte}:${position.line}`)).toEqual(rejects);
  for (const { counts } of decoded) expect(counts.records).toBe(counts.copied + counts.rejected);
});
