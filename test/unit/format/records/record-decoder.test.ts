// The record decoder: rows for COPY, and counts that add up.

import { expect, it } from 'vitest';
import { z } from 'zod';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { decode, texts, type Declared } from './decoding.ts';
import { rowsOf } from './reading.ts';

/** A name, a file without its header, and its rows as `rowsOf` reads them. */
type RowCase = [name: string, input: string, rows: readonly (string | string[])[], declared?: Declared];

const rowCases: readonly RowCase[] = [
  ['fields as they are', 'x, y \n', ['x| y ']],
  ['quoted fields', '"x, ""y""","\n"\r\n', ['x, "y"|\n']],
  ['columns in declared order, others ignored', 'x,y,z\n', ['z|x'], { header: ['b', 'q', 'a'] }],
  ['empty and quoted empty are missing', ',""\n', ['∅|∅']],
  ['blanks are text without trim', ' ,y\n', [' |y']],
  ['trim: blanks and tabs, also in quotes', ' \tx ,"  y\t"\n', ['x|y'], { options: { trim: true } }],
  ['trim: other white space is data', 'x\u00a0,\u3000y\n', ['x\u00a0|\u3000y'], { options: { trim: true } }],
  ['trim: also beside quoted fields', ' "x" ,\u00a0\fy \n', ['x|\u00a0\fy'], { options: { trim: true } }],
  [
    'trim: quotes after blanks, newlines and doubled quotes in them',
    ' "x\n" ,\t"""y"" " \r\n "", "," \n',
    ['x\n|"y"', '∅|,'],
    { options: { trim: true } },
  ],
  ['trim: the delimiter is a tab', '"x"\t "y"\n', ['x|y'], { options: { trim: true, delimiter: '\t' } }],
  [
    'trim: the delimiter holds a blank',
    '"x" | "y"\n',
    ['x|y'],
    { options: { trim: true, delimiter: ' | ' } },
  ],
  ['trim: a field of blanks is missing', '  ," "\n', ['∅|∅'], { options: { trim: true } }],
  ['trim: without a quote', ' "x , y"\n', ['"x|y"'], { options: { trim: true, quote: null } }],
  [
    'null tokens of dialect and column',
    'M,VR\nVR,M\n',
    ['∅|∅', 'VR|∅'],
    { options: { nulls: ['M'] }, columns: { ...texts, b: column.text('b').nullable().nulls(['VR']) } },
  ],
  ['no null tokens: empty is text', ',""\n', ['|'], { options: { nulls: [] } }],
  ['tokens', 'T,x\nt,x\n', ['0|x', 't|x'], { columns: { ...texts, a: column.text('a').tokens({ T: '0' }) } }],
  [
    'a token may replace an otherwise missing value',
    'T,x\n',
    ['∅|x'],
    {
      options: { nulls: ['T', ''] },
      columns: { ...texts, a: column.text('a').nullable().tokens({ T: '0' }) },
    },
  ],
  [
    'default',
    ',y\nx,\n',
    ['7|y', '7|none'],
    {
      columns: {
        a: column
          .integer('a')
          .map(() => null)
          .default(7),
        b: column.text('b').default('none'),
      },
    },
  ],
  [
    'map before the type',
    '5 kg,x\n',
    ['5|x'],
    { columns: { ...texts, a: column.integer('a').map((text) => text.replace(' kg', '')) } },
  ],
  [
    'map to null is missing',
    'x,y\n',
    ['∅|y'],
    {
      columns: {
        ...texts,
        a: column
          .text('a')
          .nullable()
          .map(() => null),
      },
    },
  ],
  [
    'map does not see a missing value',
    ',y\n',
    ['∅|y'],
    {
      columns: {
        ...texts,
        a: column
          .text('a')
          .nullable()
          .map((text) => `<${text}>`),
      },
    },
  ],
  [
    'checks see the value',
    '07,x\n',
    ['07|x'],
    { columns: { ...texts, a: column.integer('a').check((a) => a === 7, 'not 7') } },
  ],
  [
    'checks do not see a missing value',
    ',x\n',
    ['∅|x'],
    {
      columns: {
        ...texts,
        a: column
          .integer('a')
          .nullable()
          .check(() => false, 'never'),
      },
    },
  ],
  [
    'zod gives another value',
    'x,y\n',
    ['x!|y'],
    { columns: { ...texts, a: column.text('a').zod(z.string().transform((a) => `${a}!`)) } },
  ],
  [
    'glued headers',
    '20110102,0304\n',
    ['2011-01-02T03:04:00'],
    { columns: { at: column.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }) } },
  ],
  [
    'glued headers with a separator',
    '2011-01-31,00:53\n',
    ['2011-01-31 00:53'],
    { columns: { at: column.timestamp(['a', 'b'], { separator: ' ' }) } },
  ],
  [
    'glued headers, one part missing',
    '20110102,\n',
    ['∅'],
    { columns: { at: column.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }).nullable() } },
  ],
  ['ragged pad: missing fields are null', 'x\nx,y\n', ['x|∅', 'x|y'], { options: { ragged: 'pad' } }],
  [
    'a lone escape is data',
    '"C:\\temp","\\"\\\\"\n\\x,y\\\n',
    ['C:\\temp|"\\', '\\x|y\\'],
    { options: { escape: '\\' } },
  ],
  ['a delimiter of several characters', '"x||"||y|\n', [['x||', 'y|']], { options: { delimiter: '||' } }],
  ['a delimiter beyond ASCII', 'é§"ü§"\n', ['é|ü§'], { options: { delimiter: '§' } }],
  [
    'a comment mark after blanks is data',
    ' #x,y\nu,v\n',
    ['#x|y', 'u|v'],
    { options: { comment: '#', trim: true } },
  ],
  ['a byte order mark in the middle is data', '\ufeffx,y\n', ['\ufeffx|y']],
  [
    'blank records of one field',
    'x\n\ny\n\n',
    ['x', '∅', 'y', '∅'],
    { header: ['a'], columns: { a: texts.a } },
  ],
  [
    'one field, comments left out',
    '#c\nx\n#c\n\n',
    ['x', '∅'],
    { header: ['a'], columns: { a: texts.a }, options: { comment: '#' } },
  ],
  ['a backslash, a tab and a line break', '\\.,"\t\n"\n', ['\\.|\t\n']],
];

it.each(rowCases)('rows %s', async (_, input, rows, declared) => {
  const decoded = await decode(input, declared);
  expect(decoded.rejects).toEqual([]);
  expect(decoded.rows).toEqual(rowsOf(rows));
  expect(decoded.counts).toEqual({ records: rows.length, copied: rows.length, rejected: 0, filtered: 0 });
});
