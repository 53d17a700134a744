// What the record decoder rejects: position, column, code and reason.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordBytesMax, rejectRawBytesMax } from '../../../../src/core/limits.ts';
import { faultsKeptMax } from '../../../../src/format/rows/record-judge.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { decode, texts, type Declared } from './decoding.ts';

/**
 * A name, a faulty record, `code column` of its fault, and words of the reason. A good record precedes
 * it, and another follows.
 */
type RejectCase = [
  name: string,
  bad: string | Buffer,
  fault: string,
  reason: string,
  more?: Declared & { readonly others?: unknown },
];

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const typed = { ...texts, b: column.smallint('b').nullable() };
const notNull = { a: column.text('a'), b: column.text('b') };

const rejectCases: readonly RejectCase[] = [
  ['too few fields', 'x', 'field_count', 'the record has 1 field, the header 2'],
  ['too many fields', 'x,y,z', 'field_count', 'the record has 3 fields, the header 2'],
  ['too many fields, padding', 'x,y,z', 'field_count', 'has 3 fields', { options: { ragged: 'pad' } }],
  ['a line of blanks', '   ', 'field_count', 'has 1 field,'],
  ['a carriage return that is no line end', '1,x\ry', 'line_end', 'not the line end of the file'],
  ['bytes that are not UTF-8', latin1('1,Größe'), 'invalid_utf8 b', 'in field 2 (b)', { columns: texts }],
  [
    'such bytes in a field that nobody reads',
    latin1('é,1'),
    'invalid_utf8',
    'in field 1 (q)',
    { header: ['q', 'b'], columns: { b: texts.b } },
  ],
  [
    'such bytes beyond the header',
    latin1('1,2,é'),
    'invalid_utf8',
    'in field 3',
    { others: expect.objectContaining({ count: 1 }) },
  ],
  [
    'such bytes after a delimiter beyond ASCII',
    Buffer.concat([Buffer.from('1§'), latin1('é')]),
    'invalid_utf8 b',
    'in field 2 (b)',
    { options: { delimiter: '§' } },
  ],
  ['half a character', Buffer.from([0x31, 0x2c, 0xe2, 0x82]), 'invalid_utf8 b', 'UTF-8'],
  ['a surrogate written as UTF-8', Buffer.from([0xed, 0xa0, 0x80, 0x2c, 0x31]), 'invalid_utf8 a', 'UTF-8'],
  ['an overlong slash', Buffer.from([0xc0, 0xaf, 0x2c, 0x31]), 'invalid_utf8 a', 'UTF-8'],
  ['a NUL byte', '1,x\0y', 'nul_byte b', 'in field 2 (b)'],
  ['a stray quote', '1,x"y', 'quote b', 'there is a quote within field 2 (b), which'],
  ['text after a closing quote', '1,"x"y', 'quote b', 'text follows the closing quote of field 2 (b)'],
  [
    'a stray quote with trim',
    '1,"x" y',
    'quote b',
    'text follows the closing quote of field 2 (b)',
    { options: { trim: true } },
  ],
  [
    'two quoted texts with a blank between',
    '1,"x" "y"',
    'quote b',
    'text follows the closing quote of field 2 (b)',
    { options: { trim: true } },
  ],
  ['a value of another type', '1,x', 'type b', '', { columns: typed }],
  ['a value out of range', '1,40000', 'range b', '', { columns: typed }],
  [
    'a text that is too long',
    '1,xyz',
    'too_long b',
    '',
    { columns: { b: column.varchar('b', { length: 2 }) } },
  ],
  ['a missing value', '1,', 'not_null b', 'not nullable', { columns: notNull }],
  [
    'a missing field, padded',
    '1',
    'not_null b',
    'not nullable',
    { columns: notNull, options: { ragged: 'pad' } },
  ],
  ['a null token', 'M,1', 'not_null a', 'not nullable', { columns: notNull, options: { nulls: ['M'] } }],
  [
    'a missing part of a glued value',
    '1,',
    'not_null c',
    'not nullable',
    { columns: { c: column.text(['a', 'b']) } },
  ],
  [
    'a check',
    '1,9',
    'check b',
    '"9": b is below 9',
    { columns: { b: column.integer('b').check((b) => b < 9, 'b is below 9') } },
  ],
  [
    'the first of two checks',
    '1,9',
    'check b',
    '"9": one',
    {
      columns: {
        b: column
          .integer('b')
          .check((b) => b < 9, 'one')
          .check((b) => b < 8, 'two'),
      },
    },
  ],
  [
    'a Zod schema',
    '1,9',
    'check b',
    '"9": no nines',
    { columns: { b: column.text('b').zod(z.string().regex(/^[^9]*$/, 'no nines')) } },
  ],
];

describe('rejects', () => {
  it.each(rejectCases)('%s', async (_, bad, fault, reason, { others, ...declared } = {}) => {
    const [code, name = null] = fault.split(' ');
    const good = Buffer.from(`1${declared.options?.delimiter ?? ','}1\n`);
    const bytes = Buffer.concat([good, Buffer.from(bad as string), Buffer.from('\n'), good]);
    const { rejects, rows, counts } = await decode(bytes, declared);
    expect(rejects).toEqual([
      {
        position: { byte: 100 + good.length, line: 3, record: 2 },
        lastLine: 3,
        column: name,
        code,
        reason: expect.stringContaining(reason),
        raw: expect.any(String),
        ...(others === undefined ? {} : { others }),
      },
    ]);
    expect(rows).toHaveLength(2);
    expect(counts).toEqual({ records: 3, copied: 2, rejected: 1, filtered: 0 });
  });

  it('name every fault of a record in the order of the columns, unless an unreadable field hides some', async () => {
    const columns = {
      a: column.text('a'),
      b: column.smallint('b'),
      c: column.integer('c').check((c) => c > 0, 'must be positive'),
      ab: column.text(['a', 'b']),
    };
    const bad = Buffer.concat([Buffer.from('1,2,3\n,x,-5\n'), latin1('é,x,-5\n'), latin1('1,\0,é,3\n')]);
    const { rejects, counts } = await decode(bad, { columns, header: ['a', 'b', 'c'] });
    const faults = rejects.map(({ column: first, code, reason, others }) => [
      [first, code, reason],
      ...(others?.kept ?? []).map((fault) => [fault.column, fault.code, fault.reason]),
    ]);
    const smallint = ['b', 'type', '"x" is not a smallint'];
    const check = ['c', 'check', '"-5": must be positive'];
    const missing = 'the value is missing and the column is not nullable';
    expect(faults).toEqual([
      [['a', 'not_null', missing], smallint, check, ['ab', 'not_null', missing]],
      [['a', 'invalid_utf8', expect.stringContaining('in field 1 (a)')], smallint, check],
      [
        ['b', 'nul_byte', expect.stringContaining('in field 2 (b)')],
        ['c', 'invalid_utf8', expect.stringContaining('in field 3 (c)')],
        [null, 'field_count', 'the record has 4 fields, the header 3'],
      ],
    ]);
    expect(counts).toEqual({ records: 4, copied: 1, rejected: 3, filtered: 0 });
  });

  it('keep a bounded number of faults, and say how many there are', async () => {
    const header = Array.from({ length: 30 }, (_, index) => `c${index}`);
    const columns = Object.fromEntries(header.map((name) => [name, column.integer(name)]));
    const { rejects } = await decode(`${header.join(',')}\n`, { columns, header });
    expect(rejects[0]).toMatchObject({ column: 'c0', others: { count: 29 } });
    expect(rejects[0]!.others!.kept.map((fault) => fault.column)).toEqual(header.slice(1, faultsKeptMax));
  });

  it('carry the record as text, and lines are counted over quoted newlines', async () => {
    const { rejects } = await decode('"x\ny",1\n"u\r\nv",1,2\n\n1,\0\n');
    expect(rejects.map(({ raw, position }) => [raw, position.line])).toEqual([
      ['"u\r\nv",1,2', 4],
      ['1,\\x00', 7],
    ]);
  });

  it('name all lines of their record', async () => {
    const { rejects } = await decode('1,"x\ny"\n1,"x\ny\n",z\n5","6 7"8\n');
    expect(rejects.map(({ position, lastLine, code }) => [position.line, lastLine, code])).toEqual([
      [4, 6, 'field_count'],
      [7, 7, 'quote'],
    ]);
  });

  it.each<{ name: string; raw: string; options: CsvOptions }>([
    { name: 'strictly', raw: '2,"x', options: {} },
    { name: 'leniently', raw: '2,"x', options: { quotes: 'lenient' } },
    {
      name: 'leniently, with text that looks like more fields',
      raw: '2,"x, y\\" z,y\\"',
      options: { quotes: 'lenient', escape: '\\' },
    },
    { name: 'trimmed', raw: '2,  "x', options: { trim: true } },
    { name: 'trimmed outside, leniently', raw: '2, "x ', options: { trim: 'outside', quotes: 'lenient' } },
  ])('a quote that is never closed costs its line: $name', async ({ raw, options }) => {
    const { rejects, rows } = await decode(`1,1\n${raw}\n3,3\n`, { options });
    expect(rejects).toMatchObject([{ code: 'quote', raw, column: 'b', position: { line: 3, record: 2 } }]);
    expect(rejects[0]!.reason).toBe('the quote that begins field 2 (b) is never closed');
    expect(rows).toEqual([
      ['1', '1'],
      ['3', '3'],
    ]);
  });

  it('a record over the bound is shown by its beginning', async () => {
    const { rejects, rows } = await decode(`1,1\n2,${'x'.repeat(recordBytesMax)}\n3,3\n`);
    expect(rejects).toMatchObject([{ code: 'record_too_long', position: { line: 3, record: 2 } }]);
    expect(rejects[0]!.raw).toHaveLength(rejectRawBytesMax + 1);
    expect(rejects[0]!.raw.endsWith('x…')).toBe(true);
    expect(rows).toHaveLength(2);
  });

  it('a schema that makes another kind of value is a reject, not a failure', async () => {
    const odd = { a: column.text('a').zod(z.string().transform(() => Symbol('odd')) as never) };
    const { rejects } = await decode('x,y\n', { columns: odd });
    expect(rejects).toMatchObject([{ code: 'check', column: 'a' }]);
  });
});
