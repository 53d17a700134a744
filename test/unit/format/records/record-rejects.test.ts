// What the record decoder rejects: position, column, code and reason.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordBytesMax, rejectRawBytesMax } from '../../../../src/core/limits.ts';
import { faultsKeptMax } from '../../../../src/format/rows/record-judge.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { decode, texts, type Declared } from './decoding.ts';

interface RejectCase extends Declared {
  readonly name: string;
  /** The faulty record. A good record precedes it, and another follows. */
  readonly bad: string | Buffer;
  readonly code: string;
  readonly column?: string;
  readonly reason: string;
  readonly others?: unknown;
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const typed = { ...texts, b: column.smallint('b').nullable() };
const notNull = { a: column.text('a'), b: column.text('b') };

const rejectCases: readonly RejectCase[] = [
  { name: 'too few fields', bad: 'x', code: 'field_count', reason: 'the record has 1 field, the header 2' },
  {
    name: 'too many fields',
    bad: 'x,y,z',
    code: 'field_count',
    reason: 'the record has 3 fields, the header 2',
  },
  {
    name: 'too many fields, padding',
    bad: 'x,y,z',
    options: { ragged: 'pad' },
    code: 'field_count',
    reason: 'has 3 fields',
  },
  { name: 'a line of blanks', bad: '   ', code: 'field_count', reason: 'has 1 field,' },
  {
    name: 'a carriage return that is no line end',
    bad: '1,x\ry',
    code: 'line_end',
    reason: 'not the line end of the file',
  },
  {
    name: 'bytes that are not UTF-8',
    bad: latin1('1,Größe'),
    columns: texts,
    code: 'invalid_utf8',
    column: 'b',
    reason: 'in field 2 (b)',
  },
  {
    name: 'such bytes in a field that nobody reads',
    bad: latin1('é,1'),
    header: ['q', 'b'],
    columns: { b: texts.b },
    code: 'invalid_utf8',
    reason: 'in field 1 (q)',
  },
  {
    name: 'such bytes beyond the header',
    bad: latin1('1,2,é'),
    code: 'invalid_utf8',
    reason: 'in field 3',
    others: expect.objectContaining({ count: 1 }),
  },
  {
    name: 'such bytes after a delimiter beyond ASCII',
    bad: Buffer.concat([Buffer.from('1§'), latin1('é')]),
    options: { delimiter: '§' },
    code: 'invalid_utf8',
    column: 'b',
    reason: 'in field 2 (b)',
  },
  {
    name: 'half a character',
    bad: Buffer.from([0x31, 0x2c, 0xe2, 0x82]),
    code: 'invalid_utf8',
    column: 'b',
    reason: 'UTF-8',
  },
  {
    name: 'a surrogate written as UTF-8',
    bad: Buffer.from([0xed, 0xa0, 0x80, 0x2c, 0x31]),
    code: 'invalid_utf8',
    column: 'a',
    reason: 'UTF-8',
  },
  {
    name: 'an overlong slash',
    bad: Buffer.from([0xc0, 0xaf, 0x2c, 0x31]),
    code: 'invalid_utf8',
    column: 'a',
    reason: 'UTF-8',
  },
  { name: 'a NUL byte', bad: '1,x\0y', code: 'nul_byte', column: 'b', reason: 'in field 2 (b)' },
  {
    name: 'a stray quote',
    bad: '1,x"y',
    code: 'quote',
    column: 'b',
    reason: 'there is a quote within field 2 (b), which',
  },
  {
    name: 'text after a closing quote',
    bad: '1,"x"y',
    code: 'quote',
    column: 'b',
    reason: 'text follows the closing quote of field 2 (b)',
  },
  {
    name: 'a stray quote with trim',
    bad: '1,"x" y',
    options: { trim: true },
    code: 'quote',
    column: 'b',
    reason: 'text follows the closing quote of field 2 (b)',
  },
  {
    name: 'two quoted texts with a blank between',
    bad: '1,"x" "y"',
    options: { trim: true },
    code: 'quote',
    column: 'b',
    reason: 'text follows the closing quote of field 2 (b)',
  },
  { name: 'a value of another type', bad: '1,x', columns: typed, code: 'type', column: 'b', reason: '' },
  { name: 'a value out of range', bad: '1,40000', columns: typed, code: 'range', column: 'b', reason: '' },
  {
    name: 'a text that is too long',
    bad: '1,xyz',
    columns: { b: column.varchar('b', { length: 2 }) },
    code: 'too_long',
    column: 'b',
    reason: '',
  },
  {
    name: 'a missing value',
    bad: '1,',
    columns: notNull,
    code: 'not_null',
    column: 'b',
    reason: 'not nullable',
  },
  {
    name: 'a missing field, padded',
    bad: '1',
    columns: notNull,
    options: { ragged: 'pad' },
    code: 'not_null',
    column: 'b',
    reason: 'not nullable',
  },
  {
    name: 'a null token',
    bad: 'M,1',
    columns: notNull,
    options: { nulls: ['M'] },
    code: 'not_null',
    column: 'a',
    reason: 'not nullable',
  },
  {
    name: 'a missing part of a glued value',
    bad: '1,',
    columns: { c: column.text(['a', 'b']) },
    code: 'not_null',
    column: 'c',
    reason: 'not nullable',
  },
  {
    name: 'a check',
    bad: '1,9',
    columns: { b: column.integer('b').check((b) => b < 9, 'b is below 9') },
    code: 'check',
    column: 'b',
    reason: '"9": b is below 9',
  },
  {
    name: 'the first of two checks',
    bad: '1,9',
    columns: {
      b: column
        .integer('b')
        .check((b) => b < 9, 'one')
        .check((b) => b < 8, 'two'),
    },
    code: 'check',
    column: 'b',
    reason: '"9": one',
  },
  {
    name: 'a Zod schema',
    bad: '1,9',
    columns: { b: column.text('b').zod(z.string().regex(/^[^9]*$/, 'no nines')) },
    code: 'check',
    column: 'b',
    reason: '"9": no nines',
  },
];

describe('rejects', () => {
  it.each(rejectCases)('$name: $code', async (row) => {
    const delimiter = row.options?.delimiter ?? ',';
    const good = Buffer.from(`1${delimiter}1\n`);
    const bad = Buffer.from(row.bad as string);
    const { rejects, rows, counts } = await decode(Buffer.concat([good, bad, Buffer.from('\n'), good]), row);
    expect(rejects).toEqual([
      {
        position: { byte: 100 + good.length, line: 3, record: 2 },
        lastLine: 3,
        column: row.column ?? null,
        code: row.code,
        reason: expect.stringContaining(row.reason),
        raw: expect.any(String),
        ...(row.others === undefined ? {} : { others: row.others }),
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
