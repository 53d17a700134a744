// Rejects as CSV: what is wrong comes first, then the original fields.

import { describe, expect, it } from 'vitest';
import { exportLine, headOf, reasonNames } from '../../../../src/ledger/rejects/reject-export.ts';
import type { RejectRow } from '../../../../src/ledger/rejects/list-rejects.ts';
import { markedFields } from '../../../../src/ledger/rejects/reject-records.ts';
import { rejectRawBytesMax } from '../../../../src/core/limits.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { tableOf } from '../../format/records/reading.ts';

const shape = (header: readonly string[], options: CsvOptions = {}) => ({
  table: 't',
  header,
  formats: {
    dialects: [tableOf(options).format.dialect],
    columns: { price: ['price'], day: ['Day', 'Time'] },
  },
  readings: {},
});

const reject = (raw: string, more: Partial<RejectRow> = {}): RejectRow => ({
  id: 1,
  run: 12,
  isCorrected: false,
  table: 't',
  file: 'a.csv',
  line: 3,
  lastLine: 3,
  byte: 20,
  record: 2,
  column: 'price',
  code: 'type',
  reason: '"x" is not a number',
  faults: 1,
  more: [],
  raw,
  ...more,
});

/** Returns `_record` and the columns of the file. */
const values = (line: string): string => line.slice(line.indexOf('number",') + 'number",'.length, -2);

describe('exportLine', () => {
  it.each<[name: string, raw: string, line: string, options?: CsvOptions, code?: RejectRow['code']]>([
    ['plain fields', '1,x', ',1,x'],
    ['blanks around fields', ' 1 , x', ', 1 , x', { trim: true }],
    ['another delimiter', '1;x,y', ',1,"x,y"', { delimiter: ';' }],
    ['quotes and line ends', '"a ""b""\n c",x', ',"a ""b""\n c",x'],
    ['lenient quotes', '5" pipe,x', ',"5"" pipe",x', { quotes: 'lenient' }],
    ['what a spreadsheet takes for a formula', '=1+1,@x', ',=1+1,@x'],
    ['too few fields', '1', '1,,'],
    ['too many fields', '1,x,y', '"1,x,y",,'],
    ['more fields, which are cut', '1,x,y', ',1,x', { ragged: 'cut' }],
    ['fewer fields than are cut', '1', '1,,', { ragged: 'cut' }],
    ['fewer fields, the rest null', '1', ',1,', { ragged: 'pad' }],
    ['fewer fields, the rest null as another text says it', '1', ',1,-', { ragged: 'pad', nulls: ['-'] }],
    [
      'fewer fields, the rest null where quotes make a difference',
      '1',
      String.raw`,1,\N`,
      { ragged: 'pad', quotedNulls: false },
    ],
    ['fewer fields, nothing is null', '1', '1,,', { ragged: 'pad', nulls: [] }],
    ['bytes that are no text', String.raw`\xff,x`, String.raw`"\xff,x",,`, undefined, 'invalid_utf8'],
    [
      'null, and a text in quotes that is no null token there',
      ',""',
      String.raw`,\N,`,
      { quotedNulls: false },
    ],
    ['a text that is how null is written', String.raw`\N,1`, String.raw`"\N,1",,`, { quotedNulls: false }],
    ['backslash escapes, and null', String.raw`a\tb,\N`, String.raw`,a	b,\N`, { escapes: 'mysql' }],
    ['a quote that is never closed', '"1,x', '"""1,x",,', undefined, 'quote'],
  ])('%s: %j is %j', (_, raw, line, options = {}, code = 'type') => {
    expect(values(exportLine(reject(raw, { code }), shape(['id', 'price'], options)).line)).toBe(line);
  });

  it('is taken apart as its own file is written', () => {
    const [comma, semicolon] = [{}, { delimiter: ';' }].map((options) => tableOf(options).format.dialect);
    const mixed = shape(['id', 'price']);
    const formats = { ...mixed.formats, dialects: [comma!, semicolon!] };
    const lineOf = (readings: Readonly<Record<string, number>>) =>
      values(exportLine(reject('1;x'), { ...mixed, formats, readings }).line);
    expect([lineOf({ 'a.csv': 1 }), lineOf({ 'b.csv': 1 })]).toEqual([',1,x', '1;x,,']);
  });

  it('has place and every fault in front', () => {
    const more = [{ column: 'day', code: 'range', reason: '30 February' }] as const;
    const { line } = exportLine(reject('1,x', { faults: 3, more }), shape(['id', 'price']));
    expect(line).toBe(
      '12,t,a.csv,3,20,"price: ""x"" is not a number; day: 30 February; and 1 more",,1,x\r\n',
    );
  });

  it('marks a record of which only the beginning was kept, and has no fields of it', () => {
    const raw = `1,${'x'.repeat(rejectRawBytesMax - 2)}…`;
    expect(exportLine(reject(raw), shape(['id', 'price']))).toMatchObject({ raw: true, cut: true });
    expect(exportLine(reject('1,x…'), shape(['id', 'price']))).toMatchObject({ raw: false, cut: false });
  });
});

describe('the columns in front', () => {
  it('are named so that no field of the file has their name', () => {
    expect(reasonNames(['id', 'line'])[0]).toBe('_run');
    expect(reasonNames(['_line', '__file'])).toEqual(
      ['run', 'table', 'file', 'line', 'byte', 'reason', 'record'].map((name) => `___${name}`),
    );
  });

  it('come before those of the file', () =>
    expect(headOf(shape(['id', 'the, price']))).toBe(
      '_run,_table,_file,_line,_byte,_reason,_record,id,"the, price"\r\n',
    ));
});

it('markedFields marks every field of a column at fault', () => {
  const { header, formats } = shape(['id', 'Day', 'price', 'Time']);
  const format = { columns: formats.columns, dialect: formats.dialects[0]! };
  const more = [{ column: 'day', code: 'range', reason: '30 February' }] as const;
  const marks = (fault: Partial<RejectRow>) =>
    markedFields(reject('1,30,x,7', fault), header, format)?.map(({ isAtFault }) => isAtFault);
  expect(marks({})).toEqual([false, false, true, false]);
  expect(marks({ more })).toEqual([false, true, true, true]);
  expect(marks({ code: 'quote' })).toBeUndefined();
});
