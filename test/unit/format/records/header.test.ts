// Headers of files: names, where the data begins, and the errors about missing fields.

import { describe, expect, it } from 'vitest';
import type { FieldRef, LineEnd } from '../../../../src/core/declaration.ts';
import { fieldsOf } from '../../../../src/format/records/file-fields.ts';
import { checkHeader, neededFields } from '../../../../src/format/rows/header-check.ts';
import { readHeader } from '../../../../src/format/records/header.ts';
import { headerBytesMax } from '../../../../src/core/limits.ts';
import { differencesOf } from '../../../../src/format/rows/file-differences.ts';
import { column, type AnyColumn } from '../../../../src/pipeline/declare/column.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { oneOf, when } from '../../../../src/pipeline/declare/filter.ts';
import { failureOf, refusalOf } from '../../../helpers/failure.ts';
import { tableOf } from './reading.ts';

const named = { table: 't', file: 'a.csv' };

const read = (input: string | Buffer, options: CsvOptions = {}) => {
  const file = Buffer.from(input as string);
  const readBytes = async (from: number, bytes: number) => file.subarray(from, from + bytes);
  const table = tableOf(options, { columns: { a: column.text(options.header === false ? 1 : 'a') } });
  return readHeader(readBytes, table.format.dialect, named);
};

/**
 * A name, a file with `▸` where the data begins, the names with `|` between them, and the line on which
 * the data begins. `found`: the line end that is found.
 */
const cases: [
  name: string,
  marked: string,
  names: string,
  line?: number,
  more?: CsvOptions & { readonly found?: LineEnd },
][] = [
  ['LF', 'a,b\n▸1,2\n', 'a|b'],
  ['CRLF', 'a,b\r\n▸1,2\r\n', 'a|b'],
  ['CR', 'a,b\r▸1,2\r', 'a|b', 2, { found: 'cr' }],
  ['CR, then CRLF', 'a,b\r▸1,2\r\n', 'a|b', 2, { found: 'cr' }],
  ['CR twice before LF', 'a,b\r\r\n▸1,2\r\r\n', 'a|b'],
  ['CR within quotes', '"a\r",b\n▸1,2\n', 'a|b'],
  ['LF within quotes', '"a\n",b\r▸1,2\r', 'a|b', 2, { found: 'cr' }],
  ['CRLF as said', 'a,b\nc\r\n▸1,2\r\n', 'a|b\nc', 3, { found: 'crlf', lineEnd: 'crlf' }],
  ['CR in a quoted field of a file without a header', '▸"1\r",2\n', 'a|b', 1, { header: ['a', 'b'] }],
  [
    'a comment of any length, with a quote, and blank lines without number before it',
    `#"${'x'.repeat(3 * headerBytesMax)}\r${'\r'.repeat(2 * headerBytesMax)}a,b\r▸1,2\r`,
    'a|b',
    3 + 2 * headerBytesMax,
    { found: 'cr', comment: '#' },
  ],
  [
    'a comment whose line end is the last byte of a read',
    `#${'x'.repeat(headerBytesMax - 2)}\ra,b\r▸1,2\r`,
    'a|b',
    3,
    { found: 'cr', comment: '#' },
  ],
  [
    'a comment whose CRLF is cut in half by a read',
    `#${'x'.repeat(headerBytesMax - 2)}\r\na,b\r\n▸1,2\r\n`,
    'a|b',
    3,
    { found: 'crlf', comment: '#', lineEnd: 'crlf' },
  ],
  [
    'thousands of skipped lines before it',
    `${'made "today\n'.repeat(40_000)}a,b\n▸1,2\n`,
    'a|b',
    40_002,
    { skipLines: 40_000 },
  ],
  ['given names of one field that is its name', '▸a\nb\n', 'a', 1, { header: ['a'] }],
  ['CRLF before a body with LF', 'a,b\r\n▸1,2\n3,4\n', 'a|b'],
  ['LF before a body with CRLF', 'a,b\n▸1,2\r\n3,4\r\n', 'a|b'],
  ['a byte order mark', '\ufeffa,b\n▸1,2\n', 'a|b'],
  ['a byte order mark before a quote', '\ufeff"a","b"\n▸1,2\n', 'a|b'],
  ['a second byte order mark is part of a name', 'a,\ufeffb\n▸', 'a|b'],
  ['nothing but a header', 'a,b\n▸', 'a|b'],
  ['nothing but a header without a newline', 'a,b▸', 'a|b', 1],
  ['quoted names', '"a, b","c ""d"""\n▸1,2\n', 'a, b|c "d"'],
  ['a quoted name over two lines', '"a\nb",c\n▸1,2\n', 'a\nb|c', 3],
  ['blanks around names', ' a , b\t\n▸1,2\n', 'a|b'],
  ['blanks around quoted names, with trim', ' "a" , "b" \n▸1,2\n', 'a|b', 2, { trim: true }],
  ['a trailing delimiter', 'a,b,\n▸1,2,\n', 'a|b|'],
  ['one field', 'a\n▸1\n', 'a'],
  ['one field, then a blank record', 'a\n▸\n1\n', 'a'],
  ['blank lines before it', '\n\r\na,b\n▸1,2\n', 'a|b', 4],
  ['comments before it', '#x\na,b\n▸#y\n1,2\n', 'a|b', 3, { comment: '#' }],
  ['skipped lines', 'made "today\n\na,b\n▸1,2\n', 'a|b', 4, { skipLines: 2 }],
  ['skipped lines with CR', 'x\ry\r\na,b\r▸1,2\r', 'a|b', 4, { found: 'cr', skipLines: 2 }],
  ['a byte order mark before skipped lines', '\ufeffx\na,b\n▸1,2\n', 'a|b', 3, { skipLines: 1 }],
  ['given names', '▸1,2\n3,4\n', 'a|b', 1, { header: ['a', 'b'] }],
  [
    'given names after a byte order mark and a line',
    '\ufeffx\n▸1,2\n',
    'a|b',
    2,
    { header: ['a', 'b'], skipLines: 1 },
  ],
  ['given names for no bytes', '▸', 'a|b', 1, { header: ['a', 'b'] }],
  [
    'no names: as many as the first record has fields',
    '\ufeff▸\n#x\n1,"a,b",3\n1\n',
    '||',
    1,
    { header: false, comment: '#' },
  ],
  ['no names after skipped lines', 'x\n▸1;2\n', '|', 2, { header: false, skipLines: 1, delimiter: ';' }],
  ['another delimiter', 'a§b\n▸1§2\n', 'a|b', 2, { delimiter: '§' }],
  ['a lone escape in a name', '"a\\b","c\\"d"\n▸', 'a\\b|c"d', 2, { escape: '\\' }],
  ['names beyond ASCII', 'Größe,名\n▸1,2\n', 'Größe|名'],
];

describe('readHeader', () => {
  it.each(cases)('%s', async (_, marked, names, line = 2, { found = 'lf', ...options } = {}) => {
    const [head, data] = marked.split('▸') as [string, string];
    const header = await read(head + data, options);
    expect(header).toMatchObject({ names: names.split('|'), dataLine: line, lineEnd: found });
    expect(header.dataByte).toBe(Buffer.byteLength(head));
  });

  const broken: [name: string, input: string | Buffer, code: string, says?: string, options?: CsvOptions][] =
    [
      ['no bytes', '', 'ETL_SOURCE_EMPTY'],
      ['a byte order mark only', '\ufeff', 'ETL_SOURCE_EMPTY'],
      ['blank lines only', '\n\n\r\n', 'ETL_SOURCE_EMPTY'],
      ['fewer lines than are skipped', 'x\ny', 'ETL_SOURCE_EMPTY', undefined, { skipLines: 5 }],
      [
        'a first record that repeats given names, one of which was twice',
        '#x\n"a",b,a\n1,2,3\n',
        'ETL_HEADER_REPEATED',
        'a.csv:2: the first record repeats the names',
        { header: ['a', 'b', 'a_2'], comment: '#' },
      ],
      ['blank lines only, without names', '\n\n', 'ETL_SOURCE_EMPTY', undefined, { header: false }],
      [
        'a first record without a name that cannot be read',
        '1,"a"b\n1,2\n',
        'ETL_HEADER_INVALID',
        'a.csv:1: ',
        { header: false },
      ],
      [
        'a skipped line that does not end',
        `x\n${'x'.repeat(headerBytesMax + 1)}`,
        'ETL_HEADER_INVALID',
        'a.csv:2: ',
        { skipLines: 2 },
      ],
      [
        'a line end of another kind',
        'x\na\rb,c\n1,2\n',
        'ETL_HEADER_INVALID',
        'not the line end of the file',
        { skipLines: 1 },
      ],
      [
        'a quote that is never closed',
        '"a,b\n1,2\n',
        'ETL_HEADER_INVALID',
        'the quote that begins field 1 is never closed',
      ],
      [
        'a stray quote',
        'a,b"c\n',
        'ETL_HEADER_INVALID',
        'there is a quote within field 2, which does not begin with one',
      ],
      [
        'text after a closing quote',
        '"a"b,c\n',
        'ETL_HEADER_INVALID',
        'text follows the closing quote of field 1',
      ],
      ['latin1', Buffer.from('Größe,b\n', 'latin1'), 'ETL_HEADER_INVALID', 'UTF-8'],
      ['a NUL byte', 'a,b\0\n', 'ETL_HEADER_INVALID', 'it has a NUL byte: the file is binary, or in UTF-16'],
      [
        'a first line that does not end',
        'x'.repeat(headerBytesMax + 1),
        'ETL_HEADER_INVALID',
        String(headerBytesMax),
      ],
    ];
  it.each(broken)('refuses %s', async (_, input, code, says = '', options = {}) => {
    const error = await failureOf(read(input, options));
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

  it('takes names in any order, and names that nobody needs', () =>
    expect(check(['x', 'b', 'a', 'x'], ['a', 'b'])).not.toThrow());

  it('names every header that is missing, and the nearest one there is', () => {
    const error = refusalOf(check(['WBAN', 'DryBulbFarenheit'], ['DryBulbFahrenheit', 'WBAN', 'Date']));
    expect(error.message).toBe('table t: a.csv:3: the header has no "DryBulbFahrenheit", "Date"');
    expect(error.hint).toBe('Did you mean "DryBulbFarenheit"? It has 2 fields: WBAN, DryBulbFarenheit.');
  });

  it('shows what there is when nothing is near', () => {
    const names = Array.from({ length: 10 }, (_, index) => `field ${index}`);
    expect(refusalOf(check(names, ['quite another'])).hint).toMatch(
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
    ({ name, hint, names = [name] }) => expect(refusalOf(check(names, ['WBAM'])).hint).toBe(hint),
  );

  it.each([
    { names: ['sep=;'], csv: "{ skipLines: 3, delimiter: ';' }" },
    { names: ['sep=\t'], csv: "{ skipLines: 3, delimiter: '\\t' }" },
    { names: ['SEP=', ''], csv: '{ skipLines: 3 }' },
  ])('knows the first line that Excel writes: $names', ({ names, csv }) =>
    expect(refusalOf(check(names, ['a'])).hint).toMatch(
      `That line is Excel's, and the header follows it: csv(…, ${csv}).`,
    ),
  );

  it('says names with line breaks on one line', () => {
    const error = refusalOf(check(['one\nname', 'b'], ['one\r\nname']));
    expect(error.message).toBe('table t: a.csv:3: the header has no "one\\r\\nname"');
    expect(error.hint).toBe('Did you mean "one\\nname"? It has 2 fields: one\\nname, b.');
  });

  it('refuses a header that is there twice, when it is needed', () => {
    const error = refusalOf(check(['a', 'b', 'a'], ['a']));
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
    const error = refusalOf(check(names, [ref], match));
    expect(error.code).toBe('ETL_HEADER_AMBIGUOUS');
    expect(error.message).toBe(`table t: a.csv:3: ${says}`);
    expect(error.hint).toContain(hint);
  });

  it('says which position a file without names does not have', () => {
    const error = refusalOf(() => checkAll(['', ''], [2, 3], { options: { header: false } }));
    expect(error.message).toBe('table t: a.csv:3: the first record has no field 3');
    expect(error.hint).toBe('It has 2 fields.');
  });

  it('says all names of a column that a file has none of', () => {
    const error = refusalOf(check(['a', 'starts_at'], [{ from: ['Start Time', 'started_at'] }]));
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
    expect(refusalOf(() => checkAll(['a'], ['a', 'b'], { column: nullable })).code).toBe(
      'ETL_HEADER_MISSING',
    );
    const error = refusalOf(() => checkAll(['a'], ['a', 'b'], { missing: 'null' }));
    expect(error.message).toBe('table t: a.csv:3: the header has no "b"');
  });

  it("missing: 'null' lets a file lack the field of a filter", () =>
    expect(() => checkAll(['a'], ['a'], { missing: 'null', filter: oneOf('b', ['x']) })).not.toThrow());

  it("missing: 'null' takes no file that has none of the fields", () => {
    const error = refusalOf(() => checkAll(['a;b'], ['a', 'b'], { missing: 'null', column: nullable }));
    expect(error.message).toBe('table t: a.csv:3: the header has no "a", "b"');
    expect(error.hint).toContain("delimiter: ';'");
  });

  it("extra: 'error' names the fields that nobody names", () => {
    expect(() => checkAll(['a', 'b'], ['a'], { extra: 'error', filter: oneOf('b', ['x']) })).not.toThrow();
    const error = refusalOf(() => checkAll(['a', 'b', '', 'b'], ['a'], { extra: 'error' }));
    expect(error.code).toBe('ETL_HEADER_EXTRA');
    expect(error.message).toContain('the header has "b", "field 3", "b", which no column names');
  });

  it('a part of the path is needed before anything is loaded', () => {
    const part = { path: /month=(\d{4}-\d\d)/g };
    const check = (path: string) => () =>
      checkAll(['a'], ['a', part], { path, column: (made) => made.pattern(/-0/) });
    expect(() => checkAll(['-0'], [part], { path: 'x/month=2011-01/y' })).not.toThrow();
    const error = refusalOf(check('x/month=20/y.csv'));
    expect(error.code).toBe('ETL_PATH_PART');
    expect(error.message).toBe(
      'table t: x/month=20/y.csv: a column takes its value from the path, but no part of the path matches path(/month=(\\d{4}-\\d\\d)/g)',
    );
    const refused = refusalOf(() =>
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
    const taken = refusalOf(check(['region', 'x']));
    expect(taken.code).toBe('ETL_HEADER_AMBIGUOUS');
    expect(taken.message).toContain('field 1 ("region") and the constant "a" both match "region"');
    expect(refusalOf(check(['x'], (made) => made.length(2))).code).toBe('ETL_FILE_VALUE');
    const fail = (): never => {
      throw new RangeError('it broke');
    };
    const broken = refusalOf(check(['x'], (made) => made.map(fail)));
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
