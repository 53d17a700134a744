// The record decoder: rows for COPY, rejects with position, column and reason, and counts that add up.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EtlError } from '../../../src/errors.ts';
import { createRecordDecoder } from '../../../src/format/record-decoder.ts';
import { createSplitter } from '../../../src/format/splitter.ts';
import { recordBytesMax, rejectRawBytesMax } from '../../../src/limits.ts';
import type { Counts, Reject } from '../../../src/model.ts';
import { column } from '../../../src/pipeline/column.ts';
import type { CsvOptions } from '../../../src/pipeline/csv.ts';
import { oneOf, present, when } from '../../../src/pipeline/filter.ts';
import { blocksOf, tableOf } from './reading.ts';

interface Declared {
  readonly options?: CsvOptions;
  readonly columns?: object;
  readonly filter?: unknown;
  readonly header?: readonly string[];
}

const texts = { a: column.text('a').nullable(), b: column.text('b').nullable() };
const start = { byte: 100, line: 2, record: 1 };

interface Decoded {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly rejects: readonly Reject[];
  readonly counts: Counts;
}

/** Decodes a file that begins at byte 100, line 2; rows come out as lists. */
const decode = async (input: string | Buffer, declared: Declared = {}): Promise<Decoded> => {
  const { options = {}, columns = texts, filter, header = ['a', 'b'] } = declared;
  const table = tableOf(options, { columns, ...(filter === undefined ? {} : { filter }) });
  const toLine = (values: readonly (string | null)[]): string => `${JSON.stringify(values)}\n`;
  const decoder = createRecordDecoder(table, header, 'a.csv', toLine);
  const split = createSplitter(table.source.dialect, header.length);
  const blocks = await blocksOf([Buffer.from(input as string)], split, start);
  const decoded = blocks.map(decoder);
  const sum = (key: keyof Counts): number => decoded.reduce((total, { counts }) => total + counts[key], 0);
  const lines = Buffer.concat(decoded.map(({ copyBytes }) => copyBytes)).toString().split('\n').slice(0, -1);
  return {
    rows: lines.map((line) => JSON.parse(line)),
    rejects: decoded.flatMap(({ rejects }) => rejects),
    counts: { records: sum('records'), copied: sum('copied'), rejected: sum('rejected'), filtered: sum('filtered') },
  };
};

interface RowCase extends Declared {
  readonly name: string;
  readonly input: string;
  readonly rows: readonly (readonly (string | null)[])[];
}

const rowCases: readonly RowCase[] = [
  { name: 'fields as they are', input: 'x, y \n', rows: [['x', ' y ']] },
  { name: 'quoted fields', input: '"x, ""y""","\n"\r\n', rows: [['x, "y"', '\n']] },
  { name: 'columns in declared order, others ignored', input: 'x,y,z\n', header: ['b', 'q', 'a'], rows: [['z', 'x']] },
  { name: 'empty and quoted empty are missing', input: ',""\n', rows: [[null, null]] },
  { name: 'blanks are text without trim', input: ' ,y\n', rows: [[' ', 'y']] },
  { name: 'trim: blanks and tabs, also in quotes', input: ' \tx ,"  y\t"\n', options: { trim: true }, rows: [['x', 'y']] },
  { name: 'trim: other white space is data', input: 'x\u00a0,\u3000y\n', options: { trim: true }, rows: [['x\u00a0', '\u3000y']] },
  { name: 'trim: also beside quoted fields', input: ' "x" ,\u00a0\fy \n', options: { trim: true }, rows: [['x', '\u00a0\fy']] },
  { name: 'trim: quotes behind blanks, newlines and doubled quotes in them', input: ' "x\n" ,\t"""y"" " \r\n "", "," \n', options: { trim: true }, rows: [['x\n', '"y"'], [null, ',']] },
  { name: 'trim: the delimiter is a tab', input: '"x"\t "y"\n', options: { trim: true, delimiter: '\t' }, rows: [['x', 'y']] },
  { name: 'trim: the delimiter holds a blank', input: '"x" | "y"\n', options: { trim: true, delimiter: ' | ' }, rows: [['x', 'y']] },
  { name: 'trim: a field of blanks is missing', input: '  ," "\n', options: { trim: true }, rows: [[null, null]] },
  { name: 'trim: without a quote', input: ' "x , y"\n', options: { trim: true, quote: null }, rows: [['"x', 'y"']] },
  { name: 'null tokens of dialect and column', input: 'M,VR\nVR,M\n', options: { nulls: ['M'] }, columns: { ...texts, b: column.text('b').nullable().nulls(['VR']) }, rows: [[null, null], ['VR', null]] },
  { name: 'no null tokens: empty is text', input: ',""\n', options: { nulls: [] }, rows: [['', '']] },
  { name: 'tokens', input: 'T,x\nt,x\n', columns: { ...texts, a: column.text('a').tokens({ T: '0' }) }, rows: [['0', 'x'], ['t', 'x']] },
  { name: 'a token may stand for what is otherwise missing', input: 'T,x\n', options: { nulls: ['T', ''] }, columns: { ...texts, a: column.text('a').nullable().tokens({ T: '0' }) }, rows: [[null, 'x']] },
  { name: 'default', input: ',y\nx,\n', columns: { a: column.integer('a').map(() => null).default(7), b: column.text('b').default('none') }, rows: [['7', 'y'], ['7', 'none']] },
  { name: 'map before the type', input: '5 kg,x\n', columns: { ...texts, a: column.integer('a').map((text) => text.replace(' kg', '')) }, rows: [['5', 'x']] },
  { name: 'map to null is missing', input: 'x,y\n', columns: { ...texts, a: column.text('a').nullable().map(() => null) }, rows: [[null, 'y']] },
  { name: 'map does not see a missing value', input: ',y\n', columns: { ...texts, a: column.text('a').nullable().map((text) => `<${text}>`) }, rows: [[null, 'y']] },
  { name: 'checks see the value', input: '07,x\n', columns: { ...texts, a: column.integer('a').check((a) => a === 7, 'not 7') }, rows: [['07', 'x']] },
  { name: 'checks do not see a missing value', input: ',x\n', columns: { ...texts, a: column.integer('a').nullable().check(() => false, 'never') }, rows: [[null, 'x']] },
  { name: 'zod gives another value', input: 'x,y\n', columns: { ...texts, a: column.text('a').zod(z.string().transform((a) => `${a}!`)) }, rows: [['x!', 'y']] },
  { name: 'glued headers', input: '20110102,0304\n', columns: { at: column.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }) }, rows: [['2011-01-02T03:04:00']] },
  { name: 'glued headers, one part missing', input: '20110102,\n', columns: { at: column.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }).nullable() }, rows: [[null]] },
  { name: 'ragged pad: missing fields are null', input: 'x\nx,y\n', options: { ragged: 'pad' }, rows: [['x', null], ['x', 'y']] },
  { name: 'a lone escape is data', input: '"C:\\temp","\\"\\\\"\n\\x,y\\\n', options: { escape: '\\' }, rows: [['C:\\temp', '"\\'], ['\\x', 'y\\']] },
  { name: 'a delimiter of several characters', input: '"x||"||y|\n', options: { delimiter: '||' }, rows: [['x||', 'y|']] },
  { name: 'a delimiter beyond ASCII', input: 'é§"ü§"\n', options: { delimiter: '§' }, rows: [['é', 'ü§']] },
  { name: 'a comment mark behind blanks is data', input: ' #x,y\nu,v\n', options: { comment: '#', trim: true }, rows: [['#x', 'y'], ['u', 'v']] },
  { name: 'a byte order mark in the middle is data', input: '\ufeffx,y\n', rows: [['\ufeffx', 'y']] },
  { name: 'blank records of one field', input: 'x\n\ny\n\n', header: ['a'], columns: { a: texts.a }, rows: [['x'], [null], ['y'], [null]] },
  { name: 'one field, comments left out', input: '#c\nx\n#c\n\n', header: ['a'], columns: { a: texts.a }, options: { comment: '#' }, rows: [['x'], [null]] },
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

interface RejectCase extends Declared {
  readonly name: string;
  /** The record at fault; a good one stands before it, and one behind. */
  readonly bad: string | Buffer;
  readonly code: string;
  readonly column?: string;
  readonly reason: string;
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const typed = { ...texts, b: column.smallint('b').nullable() };
const notNull = { a: column.text('a'), b: column.text('b') };

const rejectCases: readonly RejectCase[] = [
  { name: 'too few fields', bad: 'x', code: 'field_count', reason: 'the record has 1 fields, the header 2' },
  { name: 'too many fields', bad: 'x,y,z', code: 'field_count', reason: 'the record has 3 fields, the header 2' },
  { name: 'too many fields, padding', bad: 'x,y,z', options: { ragged: 'pad' }, code: 'field_count', reason: 'has 3 fields' },
  { name: 'a line of blanks', bad: '   ', code: 'field_count', reason: 'has 1 fields' },
  { name: 'a line of blanks, trimmed', bad: ' \t', options: { trim: true }, code: 'field_count', reason: 'has 1 fields' },
  { name: 'bytes that are not UTF-8', bad: latin1('1,Größe'), columns: texts, code: 'invalid_utf8', column: 'b', reason: 'in field 2 (b)' },
  { name: 'such bytes in a field that nobody reads', bad: latin1('é,1'), header: ['q', 'b'], columns: { b: texts.b }, code: 'invalid_utf8', reason: 'in field 1 (q)' },
  { name: 'such bytes beyond the header', bad: latin1('1,2,é'), code: 'invalid_utf8', reason: 'in field 3' },
  { name: 'such bytes behind a delimiter beyond ASCII', bad: Buffer.concat([Buffer.from('1§'), latin1('é')]), options: { delimiter: '§' }, code: 'invalid_utf8', column: 'b', reason: 'in field 2 (b)' },
  { name: 'half a character', bad: Buffer.from([0x31, 0x2c, 0xe2, 0x82]), code: 'invalid_utf8', column: 'b', reason: 'UTF-8' },
  { name: 'a surrogate written as UTF-8', bad: Buffer.from([0xed, 0xa0, 0x80, 0x2c, 0x31]), code: 'invalid_utf8', column: 'a', reason: 'UTF-8' },
  { name: 'an overlong slash', bad: Buffer.from([0xc0, 0xaf, 0x2c, 0x31]), code: 'invalid_utf8', column: 'a', reason: 'UTF-8' },
  { name: 'a NUL byte', bad: '1,x\0y', code: 'nul_byte', column: 'b', reason: 'in field 2 (b)' },
  { name: 'a stray quote', bad: '1,x"y', code: 'quote', reason: 'Invalid Opening Quote' },
  { name: 'text behind a closing quote', bad: '1,"x"y', code: 'quote', reason: 'Invalid Closing Quote' },
  { name: 'a stray quote with trim', bad: '1,"x" y', options: { trim: true }, code: 'quote', reason: 'quote' },
  { name: 'two quoted texts with a blank between', bad: '1,"x" "y"', options: { trim: true }, code: 'quote', reason: 'quote' },
  { name: 'a value of another type', bad: '1,x', columns: typed, code: 'type', column: 'b', reason: '' },
  { name: 'a value out of range', bad: '1,40000', columns: typed, code: 'range', column: 'b', reason: '' },
  { name: 'a text that is too long', bad: '1,xyz', columns: { b: column.varchar('b', { length: 2 }) }, code: 'too_long', column: 'b', reason: '' },
  { name: 'a missing value', bad: '1,', columns: notNull, code: 'not_null', column: 'b', reason: 'not nullable' },
  { name: 'a missing field, padded', bad: '1', columns: notNull, options: { ragged: 'pad' }, code: 'not_null', column: 'b', reason: 'not nullable' },
  { name: 'a null token', bad: 'M,1', columns: notNull, options: { nulls: ['M'] }, code: 'not_null', column: 'a', reason: 'not nullable' },
  { name: 'a missing part of a glued value', bad: '1,', columns: { c: column.text(['a', 'b']) }, code: 'not_null', column: 'c', reason: 'not nullable' },
  { name: 'a check', bad: '1,9', columns: { b: column.integer('b').check((b) => b < 9, 'b is below 9') }, code: 'check', column: 'b', reason: 'b is below 9' },
  { name: 'the first of two checks', bad: '1,9', columns: { b: column.integer('b').check((b) => b < 9, 'one').check((b) => b < 8, 'two') }, code: 'check', column: 'b', reason: 'one' },
  { name: 'a Zod schema', bad: '1,9', columns: { b: column.text('b').zod(z.string().regex(/^[^9]*$/, 'no nines')) }, code: 'check', column: 'b', reason: 'no nines' },
  { name: 'the first column at fault', bad: ',9', columns: { a: column.text('a'), b: column.text('b').check((b) => b !== '9', 'nine') }, code: 'not_null', column: 'a', reason: '' },
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
        column: row.column ?? null,
        code: row.code,
        reason: expect.stringContaining(row.reason),
        raw: expect.any(String),
      },
    ]);
    expect(rows).toHaveLength(2);
    expect(counts).toEqual({ records: 3, copied: 2, rejected: 1, filtered: 0 });
  });

  it('carry the record as text, and lines are counted over quoted newlines', async () => {
    const { rejects } = await decode('"x\ny",1\n"u\r\nv",1,2\n\n1,\0\n');
    expect(rejects.map(({ raw, position }) => [raw, position.line])).toEqual([
      ['"u\r\nv",1,2', 4],
      ['1,\\x00', 7],
    ]);
  });

  it('a quote that is never closed costs its line', async () => {
    const { rejects, rows } = await decode('1,1\n2,"x\n3,3\n');
    expect(rejects).toMatchObject([{ code: 'quote', raw: '2,"x', position: { line: 3, record: 2 } }]);
    expect(rejects[0]!.reason).toContain('Quote Not Closed');
    expect(rows).toEqual([['1', '1'], ['3', '3']]);
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

describe('filters', () => {
  const rows: readonly (Declared & { name: string; kept: readonly string[] })[] = [
    { name: 'present: neither blank nor a null token', filter: present('b'), options: { nulls: ['', 'M'] }, kept: ['x', 'y', 'z'] },
    { name: 'present, no null tokens: blank is still not present', filter: present('b'), options: { nulls: [] }, kept: ['x', 'y', 'z', 'm'] },
    { name: 'oneOf: trimmed', filter: oneOf('b', ['1', '2']), kept: ['x', 'y', 'z'] },
    { name: 'oneOf: a null token is none of them', filter: oneOf('b', ['M', '1']), options: { nulls: ['M'] }, kept: ['x', 'y'] },
    { name: 'when: fields by header, trimmed, null when missing', filter: when(({ a, b }) => b === null || a === 'z', ['a', 'b']), kept: ['e', 's', 'z'] },
    { name: 'several: all must want the record', filter: [present('b'), oneOf('a', ['e', 'x'])], kept: ['x'] },
  ];
  it.each(rows)('$name', async ({ kept, ...declared }) => {
    const { counts, rows: copied } = await decode('x,1\ny, 1\ne,\ns,  \nz,2\nm,M\n', {
      ...declared,
      columns: { a: column.text('a') },
    });
    expect(copied.flat()).toEqual(expect.arrayContaining([...kept]));
    expect(counts).toEqual({ records: 6, copied: kept.length, rejected: 0, filtered: 6 - kept.length });
  });

  it('drop a record before its columns are read', async () => {
    const { counts } = await decode('1,x\n2,y\n', { columns: typed, filter: oneOf('a', ['none']) });
    expect(counts).toEqual({ records: 2, copied: 0, rejected: 0, filtered: 2 });
  });

  it('do not excuse a record with another number of fields', async () => {
    const { counts } = await decode('1\n', { filter: oneOf('a', ['none']) });
    expect(counts).toEqual({ records: 1, copied: 0, rejected: 1, filtered: 0 });
  });
});

describe('a function of the pipeline that throws', () => {
  const fail = (): never => {
    throw new RangeError('it broke');
  };
  const rows: readonly (Declared & { name: string })[] = [
    { name: 'map', columns: { a: column.text('a').map(fail) } },
    { name: 'check', columns: { a: column.text('a').check(fail, 'never seen') } },
    { name: 'zod', columns: { a: column.text('a').zod(z.string().transform(fail)) } },
    { name: 'filter', filter: when(fail, ['a']) },
  ];
  it.each(rows)('$name: ETL_USER_FUNCTION names file and line', async (declared) => {
    const error: unknown = await decode('"\n",1,1\n1,2\n', declared).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EtlError);
    const details = { table: 't', file: 'a.csv', line: 4, problem: 'it broke' };
    expect(error).toMatchObject({ code: 'ETL_USER_FUNCTION', details, cause: expect.any(RangeError) });
  });
});
