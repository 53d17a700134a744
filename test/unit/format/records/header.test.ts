// Headers of files: names, where the data begins, and the errors about missing fields.

import { describe, expect, it } from 'vitest';
import type { FieldRef, LineEnd } from '../../../../src/core/declaration/declaration.ts';
import { EtlError } from '../../../../src/core/errors/errors.ts';
import { fieldsOf } from '../../../../src/format/records/file-fields.ts';
import { checkHeader, neededFields } from '../../../../src/format/rows/header-check.ts';
import { readHeader } from '../../../../src/format/records/header.ts';
import { headerBytesMax } from '../../../../src/core/limits.ts';
import { differencesOf } from '../../../../src/format/rows/file-differences.ts';
import { column, type AnyColumn } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { oneOf, when } from '../../../../src/pipeline/declare/filter.ts';
import { tableOf } from './reading.ts';

const named = { table: 't', file: 'a.csv' };

const read = (input: string | Buffer, options: CsvOptions = {}) => {
  const file = Buffer.from(input as string);
  const readBytes = async (from: number, bytes: number) => file.subarray(from, from + bytes);
  const table = tableOf(options, { columns: { a: column.text(options.header === false ? 1 : 'a') } });
  return readHeader(readBytes, table.format.dialect, named);
};

const thrownBy = (action: () => unknown): EtlError => {
  try {
    action();
  } catch (error) {
    return error as EtlError;
  }
  throw new Error('nothing was thrown');
};

const failureOf = async (promise: Promise<unknown>): Promise<EtlError> => {
  try {
    await promise;
  } catch (error) {
    return error as EtlError;
  }
  throw new Error('nothing was thrown');
};

interface Case {
  readonly name: string;
  readonly input: string;
  readonly names: readonly string[];
  /** The bytes after the header. */
  readonly data: string;
  readonly line?: number;
  readonly lineEnd?: LineEnd;
  readonly options?: CsvOptions;
}

const cases: readonly Case[] = [
  { name: 'LF', input: 'a,b\n1,2\n', names: ['a', 'b'], data: '1,2\n' },
  { name: 'CRLF', input: 'a,b\r\n1,2\r\n', names: ['a', 'b'], data: '1,2\r\n' },
  { name: 'CR', input: 'a,b\r1,2\r', names: ['a', 'b'], data: '1,2\r', lineEnd: 'cr' },
  { name: 'CR, then CRLF', input: 'a,b\r1,2\r\n', names: ['a', 'b'], data: '1,2\r\n', lineEnd: 'cr' },
  { name: 'CR twice before LF', input: 'a,b\r\r\n1,2\r\r\n', names: ['a', 'b'], data: '1,2\r\r\n' },
  { name: 'CR within quotes', input: '"a\r",b\n1,2\n', names: ['a', 'b'], data: '1,2\n' },
  {
    name: 'LF within quotes',
    input: '"a\n",b\r1,2\r',
    names: ['a', 'b'],
    data: '1,2\r',
    lineEnd: 'cr',
  },
  {
    name: 'CRLF as said',
    input: 'a,b\nc\r\n1,2\r\n',
    names: ['a', 'b\nc'],
    data: '1,2\r\n',
    line: 3,
    lineEnd: 'crlf',
    options: { lineEnd: 'crlf' },
  },
  {
    name: 'CR in a quoted field of a file without a header',
    input: '"1\r",2\n',
    names: ['a', 'b'],
    data: '"1\r",2\n',
    line: 1,
    options: { header: ['a', 'b'] },
  },
  {
    name: 'a comment of any length, with a quote, and blank lines without number before it',
    input: `#"${'x'.repeat(3 * headerBytesMax)}\r${'\r'.repeat(2 * headerBytesMax)}a,b\r1,2\r`,
    names: ['a', 'b'],
    data: '1,2\r',
    line: 3 + 2 * headerBytesMax,
    lineEnd: 'cr',
    options: { comment: '#' },
  },
  {
    name: 'a comment whose line end is the last byte of a read',
    input: `#${'x'.repeat(headerBytesMax - 2)}\ra,b\r1,2\r`,
    names: ['a', 'b'],
    data: '1,2\r',
    line: 3,
    lineEnd: 'cr',
    options: { comment: '#' },
  },
  {
    name: 'a comment whose CRLF is cut in half by a read',
    input: `#${'x'.repeat(headerBytesMax - 2)}\r\na,b\r\n1,2\r\n`,
    names: ['a', 'b'],
    data: '1,2\r\n',
    line: 3,
    lineEnd: 'crlf',
    options: { comment: '#', lineEnd: 'crlf' },
  },
  {
    name: 'thousands of skipped lines before it',
    input: `${'made "today\n'.repeat(40_000)}a,b\n1,2\n`,
    names: ['a', 'b'],
    data: '1,2\n',
    line: 40_002,
    options: { skipLines: 40_000 },
  },
  {
    name: 'given names of one field that is its name',
    input: 'a\nb\n',
    names: ['a'],
    data: 'a\nb\n',
    line: 1,
    options: { header: ['a'] },
  },
  { name: 'CRLF before a body with LF', input: 'a,b\r\n1,2\n3,4\n', names: ['a', 'b'], data: '1,2\n3,4\n' },
  {
    name: 'LF before a body with CRLF',
    input: 'a,b\n1,2\r\n3,4\r\n',
    names: ['a', 'b'],
    data: '1,2\r\n3,4\r\n',
  },
  { name: 'a byte order mark', input: '\ufeffa,b\n1,2\n', names: ['a', 'b'], data: '1,2\n' },
  {
    name: 'a byte order mark before a quote',
    input: '\ufeff"a","b"\n1,2\n',
    names: ['a', 'b'],
    data: '1,2\n',
  },
  { name: 'a second byte order mark is part of a name', input: 'a,\ufeffb\n', names: ['a', 'b'], data: '' },
  { name: 'nothing but a header', input: 'a,b\n', names: ['a', 'b'], data: '' },
  { name: 'nothing but a header without a newline', input: 'a,b', names: ['a', 'b'], data: '', line: 1 },
  { name: 'quoted names', input: '"a, b","c ""d"""\n1,2\n', names: ['a, b', 'c "d"'], data: '1,2\n' },
  {
    name: 'a quoted name over two lines',
    input: '"a\nb",c\n1,2\n',
    names: ['a\nb', 'c'],
    data: '1,2\n',
    line: 3,
  },
  { name: 'blanks around names', input: ' a , b\t\n1,2\n', names: ['a', 'b'], data: '1,2\n' },
  {
    name: 'blanks around quoted names, with trim',
    input: ' "a" , "b" \n1,2\n',
    names: ['a', 'b'],
    data: '1,2\n',
    options: { trim: true },
  },
  { name: 'a trailing delimiter', input: 'a,b,\n1,2,\n', names: ['a', 'b', ''], data: '1,2,\n' },
  { name: 'one field', input: 'a\n1\n', names: ['a'], data: '1\n' },
  { name: 'one field, then a blank record', input: 'a\n\n1\n', names: ['a'], data: '\n1\n' },
  { name: 'blank lines before it', input: '\n\r\na,b\n1,2\n', names: ['a', 'b'], data: '1,2\n', line: 4 },
  {
    name: 'comments before it',
    input: '#x\na,b\n#y\n1,2\n',
    names: ['a', 'b'],
    data: '#y\n1,2\n',
    line: 3,
    options: { comment: '#' },
  },
  {
    name: 'skipped lines',
    input: 'made "today\n\na,b\n1,2\n',
    names: ['a', 'b'],
    data: '1,2\n',
    line: 4,
    options: { skipLines: 2 },
  },
  {
    name: 'skipped lines with CR',
    lineEnd: 'cr',
    input: 'x\ry\r\na,b\r1,2\r',
    names: ['a', 'b'],
    data: '1,2\r',
    line: 4,
    options: { skipLines: 2 },
  },
  {
    name: 'a byte order mark before skipped lines',
    input: '\ufeffx\na,b\n1,2\n',
    names: ['a', 'b'],
    data: '1,2\n',
    line: 3,
    options: { skipLines: 1 },
  },
  {
    name: 'given names',
    input: '1,2\n3,4\n',
    names: ['a', 'b'],
    data: '1,2\n3,4\n',
    line: 1,
    options: { header: ['a', 'b'] },
  },
  {
    name: 'given names after a byte order mark and a line',
    input: '\ufeffx\n1,2\n',
    names: ['a', 'b'],
    data: '1,2\n',
    options: { header: ['a', 'b'], skipLines: 1 },
  },
  {
    name: 'given names for no bytes',
    input: '',
    names: ['a', 'b'],
    data: '',
    line: 1,
    options: { header: ['a', 'b'] },
  },
  {
    name: 'no names: as many as the first record has fields',
    input: '\ufeff\n#x\n1,"a,b",3\n1\n',
    names: ['', '', ''],
    data: '\n#x\n1,"a,b",3\n1\n',
    line: 1,
    options: { header: false, comment: '#' },
  },
  {
    name: 'no names after skipped lines',
    input: 'x\n1;2\n',
    names: ['', ''],
    data: '1;2\n',
    options: { header: false, skipLines: 1, delimiter: ';' },
  },
  {
    name: 'another delimiter',
    input: 'a§b\n1§2\n',
    names: ['a', 'b'],
    data: '1§2\n',
    options: { delimiter: '§' },
  },
  {
    name: 'a lone escape in a name',
    input: '"a\\b","c\\"d"\n',
    names: ['a\\b', 'c"d'],
    data: '',
    options: { escape: '\\' },
  },
  { name: 'names beyond ASCII', input: 'Größe,名\n1,2\n', names: ['Größe', '名'], data: '1,2\n' },
];

describe('readHeader', () => {
  it.each(cases)('$name', async ({ input, names, data, line = 2, lineEnd = 'lf', options }) => {
    const header = await read(input, options);
    expect(header.names).toEqual(names);
    expect(Buffer.from(input).toString('utf8', header.dataByte)).toBe(data);
    expect(header.dataLine).toBe(line);
    expect(header.lineEnd).toBe(lineEnd);
  });

  const broken: readonly {
    name: string;
    input: string | Buffer;
    code: string;
    says?: string;
    options?: CsvOptions;
  }[] = [
    { name: 'no bytes', input: '', code: 'ETL_SOURCE_EMPTY' },
    { name: 'a byte order mark only', input: '\ufeff', code: 'ETL_SOURCE_EMPTY' },
    { name: 'blank lines only', input: '\n\n\r\n', code: 'ETL_SOURCE_EMPTY' },
    {
      name: 'fewer lines than are skipped',
      input: 'x\ny',
      code: 'ETL_SOURCE_EMPTY',
      options: { skipLines: 5 },
    },
    {
      name: 'a first record that repeats given names, one of which was twice',
      input: '#x\n"a",b,a\n1,2,3\n',
      code: 'ETL_HEADER_REPEATED',
      says: 'a.csv:2: the first record repeats the names',
      options: { header: ['a', 'b', 'a_2'], comment: '#' },
    },
    {
      name: 'blank lines only, without names',
      input: '\n\n',
      code: 'ETL_SOURCE_EMPTY',
      options: { header: false },
    },
    {
      name: 'a first record without a name that cannot be read',
      input: '1,"a"b\n1,2\n',
      code: 'ETL_HEADER_INVALID',
      says: 'a.csv:1: ',
      options: { header: false },
    },
    {
      name: 'a skipped line that does not end',
      input: `x\n${'x'.repeat(headerBytesMax + 1)}`,
      code: 'ETL_HEADER_INVALID',
      says: 'a.csv:2: ',
      options: { skipLines: 2 },
    },
    {
      name: 'a line end of another kind',
      input: 'x\na\rb,c\n1,2\n',
      code: 'ETL_HEADER_INVALID',
      says: 'not the line end of the file',
      options: { skipLines: 1 },
    },
    {
      name: 'a quote that is never closed',
      input: '"a,b\n1,2\n',
      code: 'ETL_HEADER_INVALID',
      says: 'the quote that begins field 1 is never closed',
    },
    {
      name: 'a stray quote',
      input: 'a,b"c\n',
      code: 'ETL_HEADER_INVALID',
      says: 'there is a quote within field 2, which does not begin with one',
    },
    {
      name: 'text after a closing quote',
      input: '"a"b,c\n',
      code: 'ETL_HEADER_INVALID',
      says: 'text follows the closing quote of field 1',
    },
    { name: 'latin1', input: Buffer.from('Größe,b\n', 'latin1'), code: 'ETL_HEADER_INVALID', says: 'UTF-8' },
    {
      name: 'a NUL byte',
      input: 'a,b\0\n',
      code: 'ETL_HEADER_INVALID',
      says: 'it has a NUL byte: the file is binary, or in UTF-16',
    },
    {
      name: 'a first line that does not end',
      input: 'x'.repeat(headerBytesMax + 1),
      code: 'ETL_HEADER_INVALID',
      says: String(headerBytesMax),
    },
  ];
  it.each(broken)('refuses $name: $code', async ({ input, code, says = '', options }) => {
    const error = await failureOf(read(input, options));
    expect(error).toBeInstanceOf(EtlError);
    expect(error).toMatchObject({ code, details: named });
    expect(error.message).toContain(says);
  });
});

it.each([
  ['<!DOCTYPE html>\n<html lang="de">', 'The file is a web page'],
  ['<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', 'The file is XML'],
  ['{"error":"not found"}', 'The file is JSON'],
  ['[\n  {"id": 1}]', 'The file is JSON'],
])('%j is no header, and the hint says what the file is', async (input, says) => {
  const fields = async (options: CsvOptions) => {
    const { names } = await read(input, options);
    checkAll(names, ['a'], { options });
  };
  for (const options of [{}, { quote: null }])
    expect((await failureOf(fields(options))).hint).toContain(says);
});

/** Checks a file against a table with one text column per field. */
const checkAll = (
  header: readonly string[],
  needed: readonly Exclude<FieldRef, { of: 'file' }>[],
  {
    options = {},
    constants = {},
    path = 'a.csv',
    column: change = (made: AnyColumn): AnyColumn => made,
    ...more
  }: {
    options?: CsvOptions;
    constants?: Readonly<Record<string, string>>;
    path?: string;
    column?: (made: AnyColumn) => AnyColumn;
    missing?: 'null';
    extra?: 'error';
    filter?: unknown;
  } = {},
): void => {
  const columns = Object.fromEntries(needed.map((ref, index) => [`c${index}`, change(column.text(ref))]));
  const table = tableOf(options, { columns, ...more });
  const fields = fieldsOf({ header, name: path, constants }, table.format.dialect);
  checkHeader(table, fields, { table: 't', file: path, line: 3, skip: 3 });
};

describe('checkHeader', () => {
  const check =
    (
      names: readonly string[],
      needed: readonly Exclude<FieldRef, { of: 'file' }>[],
      match: 'exact' | 'relaxed' = 'exact',
    ) =>
    () =>
      checkAll(names, needed, { options: { match } });

  it('takes names in any order, and names that nobody needs', () => {
    expect(check(['x', 'b', 'a', 'x'], ['a', 'b'])).not.toThrow();
  });

  it('names every header that is missing, and the nearest one there is', () => {
    const error = thrownBy(check(['WBAN', 'DryBulbFarenheit'], ['DryBulbFahrenheit', 'WBAN', 'Date']));
    expect(error.message).toBe('table t: a.csv:3: the header has no "DryBulbFahrenheit", "Date"');
    expect(error.hint).toBe('Did you mean "DryBulbFarenheit"? It has 2 fields: WBAN, DryBulbFarenheit.');
  });

  it('shows what there is when nothing is near', () => {
    const names = Array.from({ length: 10 }, (_, index) => `field ${index}`);
    expect(thrownBy(check(names, ['quite another'])).hint).toMatch(
      /^It has 10 fields: field 0, .*field 7, and 2 more\.$/,
    );
  });

  it.each([
    { name: 'WBAN;Date', hint: "It has 1 field: WBAN;Date. Probably csv(…, { delimiter: ';' })." },
    { name: 'WBAN|Date', hint: "It has 1 field: WBAN|Date. Probably csv(…, { delimiter: '|' })." },
    { name: 'WBAN\tDate', hint: "It has 1 field: WBAN\\tDate. Probably csv(…, { delimiter: '\\t' })." },
    { name: 'WBAM', hint: 'Did you mean "WBAN"? It has 1 field: WBAN.', names: ['WBAN'] },
  ])(
    'a header of one field: the hint names a delimiter in it, or the nearest name: $name',
    ({ name, hint, names = [name] }) => expect(thrownBy(check(names, ['WBAM'])).hint).toBe(hint),
  );

  it.each([
    { names: ['sep=;'], csv: "{ skipLines: 3, delimiter: ';' }" },
    { names: ['sep=\t'], csv: "{ skipLines: 3, delimiter: '\\t' }" },
    { names: ['SEP=', ''], csv: '{ skipLines: 3 }' },
  ])('knows the first line that Excel writes: $names', ({ names, csv }) =>
    expect(thrownBy(check(names, ['a'])).hint).toMatch(
      `That line is Excel's, and the header follows it: csv(…, ${csv}).`,
    ),
  );

  it('says names with line breaks on one line', () => {
    const error = thrownBy(check(['one\nname', 'b'], ['one\r\nname']));
    expect(error.message).toBe('table t: a.csv:3: the header has no "one\\r\\nname"');
    expect(error.hint).toBe('Did you mean "one\\nname"? It has 2 fields: one\\nname, b.');
  });

  it('refuses a header that is there twice, when it is needed', () => {
    const error = thrownBy(check(['a', 'b', 'a'], ['a']));
    expect(error.code).toBe('ETL_HEADER_DUPLICATE');
    expect(error.hint).toContain('csv(…, { header: […], skipLines: 3 })');
    expect(error.message).toContain('"a" twice (fields 1 and 3)');
    expect(error.hint).toContain('"a#1" or "a#2"');
    expect(check(['a', 'b', 'a'], ['a#1', 'a#2'])).not.toThrow();
  });

  it.each([
    {
      name: 'two headers that become the same',
      names: ['x', 'Start Time', 'start_time'],
      ref: 'START TIME',
      match: 'relaxed' as const,
      says: 'field 2 ("Start Time") and field 3 ("start_time") both match "START TIME"',
      hint: "csv(…, { match: 'exact' })",
    },
    {
      name: 'also when one of them is exactly what is declared',
      names: ['id', 'ID'],
      ref: 'id',
      match: 'relaxed' as const,
      says: 'field 1 ("id") and field 2 ("ID") both match "id"',
      hint: 'Rename one of them in the file',
    },
    {
      name: 'two names of one column',
      names: ['started_at', 'Start Time'],
      ref: { from: ['Start Time', 'started_at'] },
      says: 'field 2 ("Start Time") and field 1 ("started_at") both match "Start Time" or "started_at"',
      hint: 'A file must have only one of them',
    },
  ])('refuses $name, and names both', ({ names, ref, match, says, hint }) => {
    const error = thrownBy(check(names, [ref], match));
    expect(error.code).toBe('ETL_HEADER_AMBIGUOUS');
    expect(error.message).toBe(`table t: a.csv:3: ${says}`);
    expect(error.hint).toContain(hint);
  });

  it('says which position a file without names does not have', () => {
    const error = thrownBy(() => checkAll(['', ''], [2, 3], { options: { header: false } }));
    expect(error.message).toBe('table t: a.csv:3: the first record has no field 3');
    expect(error.hint).toBe('It has 2 fields.');
  });

  it('says all names of a column that a file has none of', () => {
    const error = thrownBy(check(['a', 'starts_at'], [{ from: ['Start Time', 'started_at'] }]));
    expect(error.message).toContain('the header has no "Start Time" or "started_at"');
  });
});

describe('files that differ', () => {
  const nullable = (made: AnyColumn): AnyColumn => made.nullable();

  it("missing: 'null' lets a file lack the fields of columns whose values may be missing", () => {
    const lacks = () => checkAll(['a'], ['a', 'b', 3], { missing: 'null', column: nullable });
    expect(lacks).not.toThrow();
    expect(() =>
      checkAll(['a'], ['a', 'b'], { missing: 'null', column: (made) => made.default('x') }),
    ).not.toThrow();
    expect(thrownBy(() => checkAll(['a'], ['a', 'b'], { column: nullable })).code).toBe('ETL_HEADER_MISSING');
    const error = thrownBy(() => checkAll(['a'], ['a', 'b'], { missing: 'null' }));
    expect(error.message).toBe('table t: a.csv:3: the header has no "b"');
  });

  it("missing: 'null' lets a file lack the field of a filter", () => {
    expect(() => checkAll(['a'], ['a'], { missing: 'null', filter: oneOf('b', ['x']) })).not.toThrow();
  });

  it("missing: 'null' takes no file that has none of the fields", () => {
    const error = thrownBy(() => checkAll(['a;b'], ['a', 'b'], { missing: 'null', column: nullable }));
    expect(error.message).toBe('table t: a.csv:3: the header has no "a", "b"');
    expect(error.hint).toContain("delimiter: ';'");
  });

  it("extra: 'error' names the fields that nobody names", () => {
    expect(() => checkAll(['a', 'b'], ['a'], { extra: 'error', filter: oneOf('b', ['x']) })).not.toThrow();
    const error = thrownBy(() => checkAll(['a', 'b', '', 'b'], ['a'], { extra: 'error' }));
    expect(error.code).toBe('ETL_HEADER_EXTRA');
    expect(error.message).toContain('the header has "b", "field 3", "b", which no column names');
  });

  it('a part of the path is needed before anything is loaded', () => {
    const part = { path: /month=(\d{4}-\d\d)/g };
    const check = (path: string) => () =>
      checkAll(['a'], ['a', part], { path, column: (made) => made.pattern(/-0/) });
    expect(() => checkAll(['-0'], [part], { path: 'x/month=2011-01/y' })).not.toThrow();
    const error = thrownBy(check('x/month=20/y.csv'));
    expect(error.code).toBe('ETL_PATH_PART');
    expect(error.message).toBe(
      'table t: x/month=20/y.csv: a column takes its value from the path, but no part of the path matches path(/month=(\\d{4}-\\d\\d)/g)',
    );
    const refused = thrownBy(() =>
      checkAll(['a'], [part], { path: 'month=2011-12', column: (made) => made.pattern(/-0/) }),
    );
    expect(refused.code).toBe('ETL_FILE_VALUE');
    expect(refused.message).toContain(
      'column c0 has one value for the whole file, from a constant or the path, and it is not valid: "2011-12"',
    );
  });

  it('a constant is checked by its column, and is no field of the file', () => {
    const constants = { region: 'a' };
    const check = (header: readonly string[], change?: (made: AnyColumn) => AnyColumn) => () =>
      checkAll(header, ['x', 'region'], { constants, ...(change === undefined ? {} : { column: change }) });
    expect(check(['x'])).not.toThrow();
    const taken = thrownBy(check(['region', 'x']));
    expect(taken.code).toBe('ETL_HEADER_AMBIGUOUS');
    expect(taken.message).toContain('field 1 ("region") and the constant "a" both match "region"');
    expect(thrownBy(check(['x'], (made) => made.length(2))).code).toBe('ETL_FILE_VALUE');
    const fail = (): never => {
      throw new RangeError('it broke');
    };
    const broken = thrownBy(check(['x'], (made) => made.map(fail)));
    expect(broken).toMatchObject({ code: 'ETL_USER_FUNCTION' });
    expect(broken.message).toContain('a.csv:3: a function of the pipeline threw: it broke');
  });

  it('says what a file has otherwise than its table', () => {
    const table = tableOf(
      { match: 'relaxed' },
      {
        columns: {
          a: column.text('Start Time'),
          b: column.text({ from: ['old', 'new'] }),
          c: column.text('n#2'),
          d: column.text('gone').nullable(),
          e: column.text(1),
          f: column.text({ path: /x/ }),
        },
      },
    );
    const needed = neededFields(table.columns, table.filter);
    const of = (header: readonly string[]) =>
      differencesOf(fieldsOf({ header, name: 'x', constants: {} }, table.format.dialect), needed);
    expect(of(['START_TIME', 'new', 'n', 'n', '', 'more'])).toEqual({
      missing: ['"gone"'],
      extra: ['n', 'field 5', 'more'],
      renamed: [
        { wanted: 'Start Time', found: 'START_TIME' },
        { wanted: 'old', found: 'new' },
      ],
    });
    expect(of(['Start Time', 'old', 'gone', 'n', 'n'])).toEqual({ missing: [], extra: ['n'], renamed: [] });
  });
});

it('neededFields: those of columns and filters, each once', () => {
  const { columns, filter } = tableOf(
    {},
    {
      columns: { a: column.text('A'), at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }) },
      filter: [oneOf('A', ['x']), when(({ B }) => B !== null, ['B', 'Date'])],
    },
  );
  expect(neededFields(columns, filter)).toEqual(['A', 'Date', 'Time', 'B']);
});
