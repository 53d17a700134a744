// The record decoder: rows for COPY, and counts that add up.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { decode, texts, type Declared } from './decoding.ts';

interface RowCase extends Declared {
  readonly name: string;
  readonly input: string;
  readonly rows: readonly (readonly (string | null)[])[];
}

const rowCases: readonly RowCase[] = [
  { name: 'fields as they are', input: 'x, y \n', rows: [['x', ' y ']] },
  { name: 'quoted fields', input: '"x, ""y""","\n"\r\n', rows: [['x, "y"', '\n']] },
  {
    name: 'columns in declared order, others ignored',
    input: 'x,y,z\n',
    header: ['b', 'q', 'a'],
    rows: [['z', 'x']],
  },
  { name: 'empty and quoted empty are missing', input: ',""\n', rows: [[null, null]] },
  { name: 'blanks are text without trim', input: ' ,y\n', rows: [[' ', 'y']] },
  {
    name: 'trim: blanks and tabs, also in quotes',
    input: ' \tx ,"  y\t"\n',
    options: { trim: true },
    rows: [['x', 'y']],
  },
  {
    name: 'trim: other white space is data',
    input: 'x\u00a0,\u3000y\n',
    options: { trim: true },
    rows: [['x\u00a0', '\u3000y']],
  },
  {
    name: 'trim: also beside quoted fields',
    input: ' "x" ,\u00a0\fy \n',
    options: { trim: true },
    rows: [['x', '\u00a0\fy']],
  },
  {
    name: 'trim: quotes after blanks, newlines and doubled quotes in them',
    input: ' "x\n" ,\t"""y"" " \r\n "", "," \n',
    options: { trim: true },
    rows: [
      ['x\n', '"y"'],
      [null, ','],
    ],
  },
  {
    name: 'trim: the delimiter is a tab',
    input: '"x"\t "y"\n',
    options: { trim: true, delimiter: '\t' },
    rows: [['x', 'y']],
  },
  {
    name: 'trim: the delimiter holds a blank',
    input: '"x" | "y"\n',
    options: { trim: true, delimiter: ' | ' },
    rows: [['x', 'y']],
  },
  {
    name: 'trim: a field of blanks is missing',
    input: '  ," "\n',
    options: { trim: true },
    rows: [[null, null]],
  },
  {
    name: 'trim: without a quote',
    input: ' "x , y"\n',
    options: { trim: true, quote: null },
    rows: [['"x', 'y"']],
  },
  {
    name: 'null tokens of dialect and column',
    input: 'M,VR\nVR,M\n',
    options: { nulls: ['M'] },
    columns: { ...texts, b: column.text('b').nullable().nulls(['VR']) },
    rows: [
      [null, null],
      ['VR', null],
    ],
  },
  { name: 'no null tokens: empty is text', input: ',""\n', options: { nulls: [] }, rows: [['', '']] },
  {
    name: 'tokens',
    input: 'T,x\nt,x\n',
    columns: { ...texts, a: column.text('a').tokens({ T: '0' }) },
    rows: [
      ['0', 'x'],
      ['t', 'x'],
    ],
  },
  {
    name: 'a token may replace an otherwise missing value',
    input: 'T,x\n',
    options: { nulls: ['T', ''] },
    columns: { ...texts, a: column.text('a').nullable().tokens({ T: '0' }) },
    rows: [[null, 'x']],
  },
  {
    name: 'default',
    input: ',y\nx,\n',
    columns: {
      a: column
        .integer('a')
        .map(() => null)
        .default(7),
      b: column.text('b').default('none'),
    },
    rows: [
      ['7', 'y'],
      ['7', 'none'],
    ],
  },
  {
    name: 'map before the type',
    input: '5 kg,x\n',
    columns: { ...texts, a: column.integer('a').map((text) => text.replace(' kg', '')) },
    rows: [['5', 'x']],
  },
  {
    name: 'map to null is missing',
    input: 'x,y\n',
    columns: {
      ...texts,
      a: column
        .text('a')
        .nullable()
        .map(() => null),
    },
    rows: [[null, 'y']],
  },
  {
    name: 'map does not see a missing value',
    input: ',y\n',
    columns: {
      ...texts,
      a: column
        .text('a')
        .nullable()
        .map((text) => `<${text}>`),
    },
    rows: [[null, 'y']],
  },
  {
    name: 'checks see the value',
    input: '07,x\n',
    columns: { ...texts, a: column.integer('a').check((a) => a === 7, 'not 7') },
    rows: [['07', 'x']],
  },
  {
    name: 'checks do not see a missing value',
    input: ',x\n',
    columns: {
      ...texts,
      a: column
        .integer('a')
        .nullable()
        .check(() => false, 'never'),
    },
    rows: [[null, 'x']],
  },
  {
    name: 'zod gives another value',
    input: 'x,y\n',
    columns: { ...texts, a: column.text('a').zod(z.string().transform((a) => `${a}!`)) },
    rows: [['x!', 'y']],
  },
  {
    name: 'glued headers',
    input: '20110102,0304\n',
    columns: { at: column.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }) },
    rows: [['2011-01-02T03:04:00']],
  },
  {
    name: 'glued headers with a separator',
    input: '2011-01-31,00:53\n',
    columns: { at: column.timestamp(['a', 'b'], { separator: ' ' }) },
    rows: [['2011-01-31 00:53']],
  },
  {
    name: 'glued headers, one part missing',
    input: '20110102,\n',
    columns: { at: column.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }).nullable() },
    rows: [[null]],
  },
  {
    name: 'ragged pad: missing fields are null',
    input: 'x\nx,y\n',
    options: { ragged: 'pad' },
    rows: [
      ['x', null],
      ['x', 'y'],
    ],
  },
  {
    name: 'a lone escape is data',
    input: '"C:\\temp","\\"\\\\"\n\\x,y\\\n',
    options: { escape: '\\' },
    rows: [
      ['C:\\temp', '"\\'],
      ['\\x', 'y\\'],
    ],
  },
  {
    name: 'a delimiter of several characters',
    input: '"x||"||y|\n',
    options: { delimiter: '||' },
    rows: [['x||', 'y|']],
  },
  { name: 'a delimiter beyond ASCII', input: 'é§"ü§"\n', options: { delimiter: '§' }, rows: [['é', 'ü§']] },
  {
    name: 'a comment mark after blanks is data',
    input: ' #x,y\nu,v\n',
    options: { comment: '#', trim: true },
    rows: [
      ['#x', 'y'],
      ['u', 'v'],
    ],
  },
  { name: 'a byte order mark in the middle is data', input: '\ufeffx,y\n', rows: [['\ufeffx', 'y']] },
  {
    name: 'blank records of one field',
    input: 'x\n\ny\n\n',
    header: ['a'],
    columns: { a: texts.a },
    rows: [['x'], [null], ['y'], [null]],
  },
  {
    name: 'one field, comments left out',
    input: '#c\nx\n#c\n\n',
    header: ['a'],
    columns: { a: texts.a },
    options: { comment: '#' },
    rows: [['x'], [null]],
  },
  { name: 'a backslash, a tab and a line break', input: '\\.,"\t\n"\n', rows: [['\\.', '\t\n']] },
];

describe('rows', () => {
  it.each(rowCases)('$name', async ({ input, rows, ...declared }) => {
    const decoded = await decode(input, declared);
    expect(decoded.rejects).toEqual([]);
    expect(decoded.rows).toEqual(rows);
    expect(decoded.counts).toEqual({ records: rows.length, copied: rows.length, rejected: 0, filtered: 0 });
  });
});
